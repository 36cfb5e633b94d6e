#include "orchestrator/rules/model_labels.h"

#include <algorithm>

#include "schemas/protocol/recompute_labels.h"

namespace rematch::rules {

namespace {

template <typename Named>
const Named* find_named(const std::vector<Named>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Named& each) { return each.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

protocol::FieldMap preset_fields(const protocol::FamilyDescription& family, const protocol::PresetDescription& preset) {
  protocol::FieldMap fields;
  for (const protocol::FieldDescription& field : family.fields) fields[field.name] = field.default_value;
  for (const auto& [name, value] : preset.fields) fields[name] = value;
  return fields;
}

std::optional<std::vector<std::string>> model_labels(const protocol::Describe& trainer, const protocol::PublishedSetting& setting) {
  const protocol::PresetDescription* preset = find_named(trainer.presets, setting.preset.value_or(""));
  const protocol::FamilyDescription* family = preset == nullptr ? nullptr : find_named(trainer.families, preset->family);
  if (family == nullptr) return std::nullopt;
  protocol::FieldMap fields = preset_fields(*family, *preset);
  for (const auto& [name, value] : setting.changed_fields) fields[name] = value;
  if (!protocol::layer_kinds(*family, fields).problem.empty()) return std::nullopt;
  std::vector<std::string> labels;
  for (const protocol::LabelRow& row : protocol::label_rows())
    if (protocol::count_sites(*family, fields, std::string(row.label)) > 0) labels.emplace_back(row.label);
  return labels;
}

}  // namespace rematch::rules
