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

constexpr std::string_view kExample = "The layout is an example, of no published run: adapt ranks, degrees and batch to your cluster.";
constexpr std::string_view kLlama =
    "The layout starts from the guide's fine-tuning of Llama 3 70B on 32 H100 (sweeps/published/llama3_70b_32xh100.yaml).";
constexpr std::string_view kMoonlight =
    "The layout starts from the guide's Moonlight 16B on 8 H100 (sweeps/published/moonlight_16b_8xh100.yaml).";
constexpr std::string_view kNemotron =
    "The layout starts from the guide's Nemotron 3 Nano on 16 H100 (sweeps/published/nemotron_3_nano_16xh100.yaml).";
constexpr std::string_view kQwen =
    "The layout starts from the pretraining recipe, of which no figures are published (sweeps/published/qwen3_next_80b.yaml).";

// Layouts in which these models fit GPUs of 80 GB; those of sweeps/published where that has the model.
constexpr std::array<LayoutRow, 5> kLayouts = {{
    {"deepseek_v3", {1024, 2, 16, 1, 64, 4, 1, 4096, 4096, kExample}},
    {"llama3_70b", {32, 4, 4, 5, 1, 0, 0, 4096, 32, kLlama}},
    {"moonlight_16b", {8, 2, 1, 1, 8, 0, 0, 4096, 4, kMoonlight}},
    {"nemotron_3_nano", {16, 1, 1, 1, 8, 0, 0, 8192, 16, kNemotron}},
    {"qwen3_next_80b", {32, 1, 4, 1, 8, 0, 0, 4096, 64, kQwen}},
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
  const std::int64_t num_stages_in_turn = layout.virtual_pipeline > 1 ? layout.pipeline : 1;  // virtual stages take micro-batches in rounds
  layout.global_batch_size =
      rounded_up(layout.global_batch_size, layout.world_size / (layout.tensor * layout.pipeline) * num_stages_in_turn);
  return layout;
}

}  // namespace rematch::plan
