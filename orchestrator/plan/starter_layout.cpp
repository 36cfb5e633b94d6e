#include "orchestrator/plan/starter_layout.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

namespace rematch::plan {

namespace {

constexpr std::int64_t kTinyHiddenSize = 512;

struct LayoutRow {
  std::string_view preset;
  StarterLayout layout;
};

// Layouts in which these models are pretrained on GPUs of 80 GB; those of sweeps/published where that has the model.
constexpr std::array<LayoutRow, 5> kLayouts = {{
    {"deepseek_v3", {1024, 2, 16, 1, 64, 4, 1, 4096, 4096}},
    {"llama3_70b", {32, 4, 4, 5, 1, 0, 0, 4096, 32}},
    {"moonlight_16b", {8, 2, 1, 1, 8, 0, 0, 4096, 4}},
    {"nemotron_3_nano", {16, 1, 1, 1, 8, 0, 0, 8192, 16}},
    {"qwen3_next_80b", {32, 1, 4, 1, 8, 0, 0, 4096, 64}},
}};

std::int64_t rounded_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

}  // namespace

std::optional<std::int64_t> integer_field(const protocol::Describe& trainer, const protocol::PresetDescription& preset,
                                          const std::string& name) {
  if (const auto own = preset.fields.find(name); own != preset.fields.end())
    if (const auto* value = std::get_if<std::int64_t>(&own->second)) return *value;
  for (const protocol::FamilyDescription& family : trainer.families)
    for (const protocol::FieldDescription& field : family.fields)
      if (family.name == preset.family && field.name == name)
        if (const auto* value = std::get_if<std::int64_t>(&field.default_value)) return *value;
  return std::nullopt;
}

bool is_tiny(const protocol::Describe& trainer, const protocol::PresetDescription& preset) {
  return integer_field(trainer, preset, "hidden_size").value_or(0) <= kTinyHiddenSize;
}

base::Result<StarterLayout> starter_layout(const protocol::Describe& trainer, const protocol::PresetDescription& preset,
                                           const std::optional<std::int64_t>& world_size) {
  const auto row = std::find_if(kLayouts.begin(), kLayouts.end(), [&](const LayoutRow& each) { return each.preset == preset.name; });
  StarterLayout layout = row == kLayouts.end() ? StarterLayout{} : row->layout;
  layout.world_size = world_size.value_or(layout.world_size);
  if (row == kLayouts.end())
    layout.expert = std::gcd(layout.world_size, std::max<std::int64_t>(1, integer_field(trainer, preset, "num_moe_experts").value_or(1)));
  const std::int64_t step = std::max<std::int64_t>(1, layout.pipeline * std::lcm(layout.tensor, layout.expert));
  if (layout.world_size < 1 || layout.world_size % step != 0)
    return base::Error{"the layout of " + preset.name + " (TP " + std::to_string(layout.tensor) + ", PP " +
                       std::to_string(layout.pipeline) + ", EP " + std::to_string(layout.expert) + ") wants a multiple of " +
                       std::to_string(step) + " ranks; found --world-size " + std::to_string(layout.world_size)};
  layout.global_batch_size = rounded_up(layout.global_batch_size, layout.world_size / (layout.tensor * layout.pipeline));
  return layout;
}

}  // namespace rematch::plan
