#include "orchestrator/compat/rules.h"

#include "orchestrator/compat/conditions.h"

namespace rematch::compat {

namespace {

using protocol::kAllRevisions;
using protocol::kDevOnly;
using protocol::kWithGdnNormOut;
constexpr auto kMegatron = Origin::kMegatron;
constexpr auto kOurs = Origin::kOurs;

const std::vector<Rule>& table() {
  static const std::vector<Rule> rows = {
      {"G3", kMegatron, Effect::kRefuse, [](const Setting& s) { return is_full(s) && !s.trial.recompute.recompute_method; },
       "full recompute needs recompute_method: uniform or block", kAllRevisions},
      {"G4", kMegatron, Effect::kRefuse, [](const Setting& s) { return is_full(s) && !s.trial.recompute.recompute_num_layers; },
       "full recompute needs recompute_num_layers", kAllRevisions},
      {"G5", kMegatron, Effect::kRefuse, [](const Setting& s) { return is_selective(s) && s.trial.recompute.recompute_num_layers; },
       "selective recompute always covers all layers: leave recompute_num_layers out", kAllRevisions},
      {"G6", kMegatron, Effect::kRefuse, [](const Setting& s) { return is_selective(s) && s.trial.recompute.recompute_method; },
       "recompute_method belongs to full recompute: Megatron's command line refuses it under selective; leave it out", kAllRevisions},
      {"G7", kMegatron, Effect::kRefuse,
       [](const Setting& s) {
         const auto& recompute = s.trial.recompute;
         return recompute.distribute_saved_activations && recompute.recompute_granularity && s.trial.parallel.sequence_parallel;
       },
       "sequence_parallel shares the saved inputs already: leave distribute_saved_activations out", kAllRevisions},
      {"G8", kMegatron, Effect::kRefuse,
       [](const Setting& s) {
         const auto& recompute = s.trial.recompute;
         const bool is_split = s.trial.parallel.tensor_model_parallel_size > 1;
         return recompute.distribute_saved_activations && (!is_split || !is_full(s) || !recompute.recompute_method);
       },
       "distribute_saved_activations shares the saved inputs of full recompute among tensor-parallel ranks: Megatron's command line wants "
       "tensor_model_parallel_size > 1, granularity full and a method",
       kAllRevisions},
      {"G9", kMegatron, Effect::kIgnore,
       [](const Setting& s) { return is_full(s) && s.trial.recompute.recompute_modules && !s.trial.recompute.recompute_modules->empty(); },
       "labels have no effect under full recompute: Megatron does not even check them", kAllRevisions, modules_under_full},
      {"L1", kMegatron, Effect::kRefuse, has_unknown_label, "a label that this core revision does not know", kAllRevisions, unknown_labels},
      {"L2", kMegatron, Effect::kRefuse, [](const Setting& s) { return selects(s, "moe_act") && !has_grouped_experts(s); },
       "moe_act has its boundary in grouped-GEMM experts only", kAllRevisions, why_no_grouped_experts},
      {"L3", kMegatron, Effect::kRefuse, [](const Setting& s) { return selects_without_boundary(s, "mla_up_proj"); },
       "mla_up_proj has its boundary in multi-latent attention only", kAllRevisions, family_without_it},
      {"L4", kMegatron, Effect::kRefuse, [](const Setting& s) { return selects_without_boundary(s, "gdn_norm_out"); },
       "gdn_norm_out has its boundary in a gated delta net only", kWithGdnNormOut, family_without_it},
      {"L5", kMegatron, Effect::kWarn, [](const Setting& s) { return selects(s, "core_attn"); },
       "Megatron warns whenever core_attn is selected, since fused and flash attention recompute their internals", kAllRevisions,
       attention_backend},
      {"L6", kMegatron, Effect::kRefuse,
       [](const Setting& s) { return selects(s, "shared_experts") && has_shared_experts(s) && s.trial.features.moe_shared_expert_overlap; },
       "overlapped shared experts run outside the checkpointed call: set moe_shared_expert_overlap: false", kAllRevisions},
      {"L7", kMegatron, Effect::kIgnore, [](const Setting& s) { return selects(s, "shared_experts") && !has_shared_experts(s); },
       "this model has no shared expert: the label is never executed", kAllRevisions, shared_experts_without_site},
      {"L8", kMegatron, Effect::kIgnore, has_label_without_site, "a label that has no site in this model: Megatron ignores it in silence",
       kAllRevisions, labels_without_site},
      {"L9", kMegatron, Effect::kRefuse, [](const Setting& s) { return selects(s, "gdn") && selects(s, "gdn_norm_out"); },
       "gdn and gdn_norm_out exclude each other: gdn recomputes all of the gated delta net", kDevOnly},
      {"M5", kMegatron, Effect::kRefuse,
       [](const Setting& s) {
         return has_moe_layers(s) && s.trial.parallel.tensor_model_parallel_size > 1 && !s.trial.parallel.sequence_parallel;
       },
       "a mixture of experts under tensor parallelism wants sequence_parallel in training: Megatron raises in the layer's forward; write "
       "sequence_parallel: true",
       kAllRevisions},
      {"O2", kMegatron, Effect::kRefuse,
       [](const Setting& s) { return s.trial.features.cpu_offloading && s.trial.recompute.recompute_granularity.has_value(); },
       "cpu_offloading allows no recompute, not even an empty selective list: use recompute_granularity: null for the control",
       kAllRevisions},
      {"R1", kOurs, Effect::kRefuse, has_label_without_unit,
       "the core revision knows the label, and no model family of this trainer has a unit for it", kAllRevisions, labels_without_unit},
      {"R2", kOurs, Effect::kRefuse, has_layers_out_of_range,
       "recompute_num_layers must name layers that the model has; Megatron accepts any number and clamps it or loops", kAllRevisions,
       layers_of_model},
      {"R3", kOurs, Effect::kRefuse, has_unsplit_layers, "this trainer does not split such layers over that axis: write 1", kAllRevisions,
       unsplit_layers},
      {"R4", kOurs, Effect::kRefuse,
       [](const Setting& s) {
         return s.trial.backend.attention == "unfused" && s.trial.parallel.context_parallel_size > 1 && family_has(s, "core_attn");
       },
       "context parallelism is for fused attention: write attention: fused, or context_parallel_size: 1", kAllRevisions},
      {"R5", kOurs, Effect::kRefuse, [](const Setting& s) { return s.trial.features.moe_shared_expert_overlap && !has_shared_experts(s); },
       "there are no shared experts to overlap: leave moe_shared_expert_overlap out", kAllRevisions, shared_experts_without_site},
      {"X1", kOurs, Effect::kWarn, replays_context_traffic,
       "under context parallelism the replay of this label repeats communication: `show` gives the bytes", kAllRevisions,
       replayed_context_traffic},
  };
  return rows;
}

}  // namespace

std::string to_string(const Violation& violation) {
  return violation.id + ": " + violation.reason + (violation.detail.empty() ? "" : " (" + violation.detail + ")");
}

std::span<const Rule> rules() { return table(); }

std::vector<Violation> violations(const Setting& setting) {
  std::vector<Violation> found;
  for (const Rule& rule : table()) {
    if (!protocol::contains(rule.core_revisions, setting.trial.recompute.core_revision) || !rule.holds(setting)) continue;
    const std::string reason = (rule.origin == Origin::kOurs ? "ours: " : "") + std::string(rule.reason);
    found.push_back({std::string(rule.id), rule.effect, reason, rule.detail == nullptr ? "" : rule.detail(setting)});
  }
  return found;
}

}  // namespace rematch::compat
