#include "orchestrator/plan/starter.h"

#include <algorithm>

#include "orchestrator/plan/plan.h"
#include "orchestrator/plan/starter_text.h"
#include "orchestrator/spec/nearest.h"
#include "orchestrator/spec/recompute_section.h"
#include "schemas/protocol/recompute_labels.h"

namespace rematch::plan {

namespace {

using protocol::Describe;
using protocol::FamilyDescription;
using protocol::PresetDescription;

constexpr const char* kFileName = "starter.yaml";

template <typename Named>
const Named* find_named(const std::vector<Named>& rows, const std::string& name) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Named& each) { return each.name == name; });
  return row == rows.end() ? nullptr : &*row;
}

std::string size_text(const Describe& trainer, const PresetDescription& preset) {
  const auto field = [&](const char* name) { return integer_field(trainer, preset, name).value_or(0); };
  std::string text = std::to_string(field("num_layers")) + " layers, hidden size " + std::to_string(field("hidden_size"));
  if (field("num_moe_experts") > 0) text += ", " + std::to_string(field("num_moe_experts")) + " experts";
  return text;
}

std::string why_no_site(const FamilyDescription& family, const PresetDescription& preset, const std::string& label) {
  const protocol::LabelSites* sites = protocol::find_sites(family, label);
  if (sites == nullptr) return "family " + family.name + " has no such boundary";
  protocol::FieldMap fields;
  for (const protocol::FieldDescription& field : family.fields) fields[field.name] = field.default_value;
  for (const auto& [name, value] : preset.fields) fields[name] = value;
  if (protocol::count_sites(family, fields, label) > 0) return "";
  return sites->no_site_reason.empty() ? "the model has no such boundary" : sites->no_site_reason;
}

std::vector<StarterLabel> labels_of(const Starter& starter) {
  std::vector<StarterLabel> labels;
  for (const protocol::LabelRow& row : protocol::label_rows()) {
    const std::string label(row.label);
    const std::string why_not = protocol::contains(row.core_revisions, starter.core_revision)
                                    ? why_no_site(*starter.family, *starter.preset, label)
                                    : "unknown to this revision of Megatron Core";
    labels.push_back({label, std::string(row.discards), why_not});
  }
  return labels;
}

// What this build of the trainer alone cannot do is no fault of the sweep, which may run with another: `plan` tells it.
Describe with_every_ability(Describe trainer) {
  trainer.devices = {"cpu", "cuda", "meta"};
  trainer.parallel_axes = {"tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size",
                           "expert_model_parallel_size", "expert_tensor_parallel_size",  "virtual_pipeline_model_parallel_size"};
  for (const char* mode : {"gradient_accumulation_fusion=false", "gradient_accumulation_fusion=true"})
    if (std::count(trainer.optimizer_modes.begin(), trainer.optimizer_modes.end(), mode) == 0) trainer.optimizer_modes.emplace_back(mode);
  return trainer;
}

// What a rule refuses of a label alone shows once the sweep is planned.
std::optional<base::Error> leave_out_refused(Starter& starter, const Describe& this_trainer) {
  const Describe trainer = with_every_ability(this_trainer);
  const spec::ParsedSweep parsed = spec::parse_sweep(text_of(starter), kFileName, trainer, {}, spec::SweepUse::kSimulate);
  if (!parsed.problems.empty()) {
    std::string text =
        "a first sweep of " + starter.preset->name + " with " + std::to_string(starter.layout.world_size) + " ranks is refused:";
    for (const spec::Diagnostic& problem : parsed.problems) text += "\n  " + problem.path + ": " + problem.message;
    return base::Error{text + "\nTry another --world-size, or write the sweep by hand."};
  }
  for (const base::ArmRow& arm : make_plan(parsed.spec, trainer).arms)
    for (StarterLabel& label : starter.labels)
      if (arm.arm == label.label && arm.status != base::ArmStatus::kPlanned) label.why_not = arm.reason;
  return std::nullopt;
}

}  // namespace

std::vector<StarterPreset> starter_presets(const Describe& trainer) {
  std::vector<StarterPreset> presets;
  for (const PresetDescription& preset : trainer.presets)
    presets.push_back({preset.name, preset.family, size_text(trainer, preset), is_tiny(trainer, preset),
                       starter_layout(trainer, preset, std::nullopt).value().world_size});
  return presets;
}

base::Result<std::string> starter_sweep(const Describe& trainer, const StarterRequest& request) {
  Starter starter;
  starter.preset = find_named(trainer.presets, request.preset);
  if (starter.preset == nullptr) {
    std::vector<std::string> names;
    for (const PresetDescription& preset : trainer.presets) names.push_back(preset.name);
    return base::Error{spec::unknown_name_message(request.preset, "a preset", names)};
  }
  starter.family = find_named(trainer.families, starter.preset->family);
  auto layout = starter_layout(trainer, *starter.preset, request.world_size);
  if (!layout) return layout.error();
  starter.layout = layout.value();
  starter.device = request.device.value_or(is_tiny(trainer, *starter.preset) ? "cpu" : "cuda");
  if (starter.device == "meta") starter.device = "cuda";  // a sweep names the device that is meant, and `run --simulate` does the rest
  starter.file = request.file.empty() ? starter.preset->name + ".yaml" : request.file;
  starter.core_revision = spec::kDefaultCoreRevision;
  starter.size = size_text(trainer, *starter.preset);
  starter.labels = labels_of(starter);
  if (auto refused = leave_out_refused(starter, trainer)) return *std::move(refused);
  return text_of(starter);
}

}  // namespace rematch::plan
