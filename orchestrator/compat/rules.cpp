#include "orchestrator/compat/rules.h"

#include <algorithm>

#include "schemas/protocol/recompute_labels.h"

namespace rematch::compat {

namespace {

const std::vector<std::string>& modules(const Setting& setting) {
  static const std::vector<std::string> none;
  const auto& list = setting.trial.recompute.recompute_modules;
  return list ? *list : none;
}

bool selects(const Setting& setting, std::string_view label) {
  const auto& list = modules(setting);
  return setting.trial.recompute.recompute_granularity == "selective" && std::find(list.begin(), list.end(), label) != list.end();
}

bool is_full(const Setting& setting) { return setting.trial.recompute.recompute_granularity == "full"; }

// Does any layer kind of the family have this label's boundary?
bool family_has(const Setting& setting, std::string_view label) {
  const auto& rows = setting.family.labels;
  return std::any_of(rows.begin(), rows.end(), [&](const protocol::LabelSites& row) {
    return row.label == label && std::any_of(row.per_layer.begin(), row.per_layer.end(), [](const auto& kind) { return kind.second > 0; });
  });
}

bool selects_without_boundary(const Setting& setting, std::string_view label) {
  return selects(setting, label) && !family_has(setting, label);
}

bool has_grouped_experts(const Setting& setting) {
  const auto flag = setting.trial.model.fields.find("moe_grouped_gemm");
  return family_has(setting, "moe_act") && (flag == setting.trial.model.fields.end() || flag->second != protocol::FieldValue(false));
}

bool has_shared_experts(const Setting& setting) {
  return protocol::count_sites(setting.family, setting.trial.model.fields, "shared_experts") > 0;
}

bool has_unknown_label(const Setting& setting) {
  const auto& list = modules(setting);
  return setting.trial.recompute.recompute_granularity == "selective" &&
         std::any_of(list.begin(), list.end(),
                     [&](const std::string& label) { return !protocol::find_label(label, setting.trial.recompute.core_revision); });
}

// A label that the family knows and this model has no layer for. shared_experts has a rule of its own.
bool has_label_without_site(const Setting& setting) {
  const auto& list = modules(setting);
  return setting.trial.recompute.recompute_granularity == "selective" &&
         std::any_of(list.begin(), list.end(), [&](const std::string& label) {
           return label != "shared_experts" && protocol::count_sites(setting.family, setting.trial.model.fields, label) == 0;
         });
}

const std::vector<Rule>& table() {
  const std::vector<std::string_view> k24bad8e6 = {"24bad8e6"};
  static const std::vector<Rule> rows = {
      {"G3", Effect::kRefuse, [](const Setting& s) { return is_full(s) && !s.trial.recompute.recompute_method; },
       "full recompute needs recompute_method: uniform or block", k24bad8e6},
      {"G4", Effect::kRefuse, [](const Setting& s) { return is_full(s) && !s.trial.recompute.recompute_num_layers; },
       "full recompute needs recompute_num_layers", k24bad8e6},
      {"G5", Effect::kRefuse,
       [](const Setting& s) { return s.trial.recompute.recompute_granularity == "selective" && s.trial.recompute.recompute_num_layers; },
       "selective recompute always covers all layers: leave recompute_num_layers out", k24bad8e6},
      {"L1", Effect::kRefuse, has_unknown_label, "a label that this core revision does not know", k24bad8e6},
      {"L2", Effect::kRefuse, [](const Setting& s) { return selects(s, "moe_act") && !has_grouped_experts(s); },
       "moe_act has its boundary in grouped-GEMM experts only, and this model has none", k24bad8e6},
      {"L3", Effect::kRefuse, [](const Setting& s) { return selects_without_boundary(s, "mla_up_proj"); },
       "mla_up_proj has its boundary in multi-latent attention only, and this model has none", k24bad8e6},
      {"L4", Effect::kRefuse, [](const Setting& s) { return selects_without_boundary(s, "gdn_norm_out"); },
       "gdn_norm_out has its boundary in a gated delta net only, and this model has none", k24bad8e6},
      {"L5", Effect::kWarn, [](const Setting& s) { return selects(s, "core_attn"); },
       "fused and flash attention already recompute their internals: core_attn may cost time and save nothing", k24bad8e6},
      {"L6", Effect::kRefuse,
       [](const Setting& s) { return selects(s, "shared_experts") && has_shared_experts(s) && s.trial.features.moe_shared_expert_overlap; },
       "overlapped shared experts run outside the checkpointed call: set moe_shared_expert_overlap: false", k24bad8e6},
      {"L7", Effect::kIgnore, [](const Setting& s) { return selects(s, "shared_experts") && !has_shared_experts(s); },
       "this model has no shared expert: the label is never executed", k24bad8e6},
      {"L8", Effect::kIgnore, has_label_without_site, "a label that has no site in this model: Megatron ignores it in silence", k24bad8e6},
      {"O2", Effect::kRefuse,
       [](const Setting& s) { return s.trial.features.cpu_offloading && s.trial.recompute.recompute_granularity.has_value(); },
       "cpu_offloading allows no recompute, not even an empty selective list: use recompute_granularity: null for the control", k24bad8e6},
  };
  return rows;
}

// A sweep may spell a revision longer or shorter than the table does.
bool applies(const Rule& rule, const std::string& core_revision) {
  return std::any_of(rule.core_revisions.begin(), rule.core_revisions.end(), [&](std::string_view known) {
    const auto length = std::min(known.size(), core_revision.size());
    return known.substr(0, length) == std::string_view(core_revision).substr(0, length);
  });
}

}  // namespace

std::span<const Rule> rules() { return table(); }

std::vector<Violation> violations(const protocol::Trial& trial, const protocol::FamilyDescription& family) {
  std::vector<Violation> found;
  for (const Rule& rule : table()) {
    if (applies(rule, trial.recompute.core_revision) && rule.holds({trial, family}))
      found.push_back({std::string(rule.id), rule.effect, std::string(rule.reason)});
  }
  return found;
}

}  // namespace rematch::compat
