// Labels: which are known, which model has the boundary that each names.
#include <algorithm>

#include "orchestrator/compat/conditions.h"
#include "orchestrator/compat/of_trial.h"
#include "orchestrator/compat/rules.h"
#include "schemas/protocol/recompute_labels.h"

namespace rematch::compat {

namespace {

constexpr auto kClass = Origin::kClass;
using protocol::kWithGdnNormOut;

Names unknown_of(const Subject& s) {
  Names unknown;
  if (!early_is(s, "selective")) return unknown;
  for (const std::string& label : s.r.early_modules)
    if (!protocol::find_label(label, s.in.core_revision)) unknown.push_back(label);
  return unknown;
}

std::string unknown_labels(const Subject& s) {
  return joined(unknown_of(s)) + "; " + s.in.core_revision + " knows " + joined(protocol::labels_of_revision(s.in.core_revision));
}

std::string why_no_grouped_experts(const Subject& s) {
  if (s.setting != nullptr && !family_has(*s.setting, "moe")) return "family " + s.setting->family.name + " has no experts";
  return "moe_grouped_gemm is not true for this model: set it to true";
}

std::string family_without_it(const Subject& s) { return s.setting == nullptr ? "" : "family " + s.setting->family.name + " has none"; }

std::string attention_backend(const Subject& s) {
  if (s.setting == nullptr) return "compare it with []: under a fused backend it may cost time and save nothing";
  const std::string& attention = s.setting->trial.backend.attention;
  if (attention == "fused")
    return "backend.attention is fused: it recomputes scores and probabilities in its backward already, so that the label may cost time "
           "and save nothing";
  return "backend.attention is " + attention + ": scores and probabilities are there to be saved";
}

std::string shared_experts_without_site(const Subject& s) {
  return s.setting == nullptr ? "" : no_site_reason(*s.setting, "shared_experts");
}

bool has_connections(const Subject& s) { return s.c.enable_hyper_connections || s.c.enable_mhc_connections; }

}  // namespace

Rules label_rules() {
  return {
      {"L1", "", kClass, Effect::kRefuse, "recompute_granularity, recompute_modules",
       [](const Subject& s) { return !unknown_of(s).empty(); }, "a label that this core revision does not know", kAllRevisions,
       unknown_labels},
      {"L2", "", kClass, Effect::kRefuse, "recompute_granularity, recompute_modules, moe_grouped_gemm",
       [](const Subject& s) { return early_selects(s, "moe_act") && !s.c.moe_grouped_gemm; },
       "moe_act has its boundary in grouped-GEMM experts only", kAllRevisions, why_no_grouped_experts},
      {"L3", "", kClass, Effect::kRefuse, "recompute_granularity, recompute_modules, multi_latent_attention",
       [](const Subject& s) { return early_selects(s, "mla_up_proj") && !s.c.multi_latent_attention; },
       "mla_up_proj has its boundary in multi-latent attention only", kAllRevisions, family_without_it},
      {"L4", "", kClass, Effect::kRefuse, "recompute_granularity, recompute_modules, experimental_attention_variant",
       [](const Subject& s) { return early_selects(s, "gdn_norm_out") && !is_gated_delta_net(s); },
       "gdn_norm_out has its boundary in a gated delta net only", kWithGdnNormOut, family_without_it},
      {"L4", "gdn", kClass, Effect::kRefuse, "recompute_granularity, recompute_modules, experimental_attention_variant",
       [](const Subject& s) { return early_selects(s, "gdn") && !is_gated_delta_net(s); }, "gdn has its boundary in a gated delta net only",
       kDevOnly, family_without_it},
      {"L5", "", kClass, Effect::kWarn, "recompute_granularity, recompute_modules",
       [](const Subject& s) { return early_selects(s, "core_attn"); },
       "Megatron warns whenever core_attn is selected, since fused and flash attention recompute their internals", kAllRevisions,
       attention_backend, true},
      {"L6", "", kClass, Effect::kRefuse,
       "recompute_granularity, recompute_modules, moe_shared_expert_intermediate_size, moe_shared_expert_overlap",
       [](const Subject& s) {
         return early_selects(s, "shared_experts") && s.c.moe_shared_expert_intermediate_size && s.c.moe_shared_expert_overlap;
       },
       "overlapped shared experts run outside the checkpointed call: set moe_shared_expert_overlap: false", kAllRevisions},
      {"L7", "", kClass, Effect::kIgnore, "recompute_granularity, recompute_modules, moe_shared_expert_intermediate_size, num_moe_experts",
       [](const Subject& s) { return selects(s, "shared_experts") && !has_shared_experts(s); },
       "this model has no shared expert: the label is never executed", kAllRevisions, shared_experts_without_site},
      {"L8", "", kClass, Effect::kIgnore,
       "recompute_granularity, recompute_modules, num_moe_experts, moe_layer_freq, multi_latent_attention, mla_down_proj_fusion, "
       "transformer_impl, experimental_attention_variant, linear_attention_freq",
       has_label_without_site, "a label that has no site in this model: Megatron ignores it in silence", kAllRevisions,
       labels_without_site},
      {"L9", "", kClass, Effect::kRefuse, "recompute_granularity, recompute_modules",
       [](const Subject& s) { return early_selects(s, "gdn") && early_selects(s, "gdn_norm_out"); },
       "gdn and gdn_norm_out exclude each other: gdn recomputes all of the gated delta net", kDevOnly},
      {"H1", "mhc_without_connections", kClass, Effect::kRefuse,
       "recompute_granularity, recompute_modules, enable_hyper_connections, enable_mhc_connections",
       [](const Subject& s) { return s.setting == nullptr && selects(s, "mhc") && !has_connections(s); },
       "mhc has its boundary in hyper-connections: enable them, or leave mhc out", kMainAndDev},
      {"H1", "mhc_with_mlp", kClass, Effect::kRefuse, "recompute_granularity, recompute_modules",
       [](const Subject& s) { return selects(s, "mhc") && selects(s, "mlp"); },
       "mhc and mlp checkpoint by different mechanisms: leave one out", kMainAndDev},
      {"H1", "mhc_with_offload", kClass, Effect::kRefuse,
       "recompute_granularity, recompute_modules, fine_grained_activation_offloading, offload_modules",
       [](const Subject& s) {
         const bool is_any = s.in.core_revision == protocol::kMain && !s.r.offload_modules.empty();
         return selects(s, "mhc") && s.c.fine_grained_activation_offloading &&
                (is_any || !found_in(s.r.offload_modules, {"attn_norm", "mlp_norm"}).empty());
       },
       "the replay of mhc begins before these activations are back: leave mhc or the offloading out", kMainAndDev},
      {"H1", "connections_with_mtp", kClass, Effect::kRefuse, "enable_hyper_connections, enable_mhc_connections, mtp_num_layers",
       [](const Subject& s) { return has_connections(s) && s.c.mtp_num_layers.value_or(0) > 0; },
       "hyper-connections and multi-token prediction exclude each other", protocol::kMainOnly},
      {"H1", "connections_with_full", kClass, Effect::kRefuse, "enable_hyper_connections, enable_mhc_connections, recompute_granularity",
       [](const Subject& s) { return has_connections(s) && is_full(s); },
       "hyper-connections have a recompute of their own: use selective with mhc in place of full", protocol::kMainOnly},
      {"H2", "", kClass, Effect::kWarn, "enable_hyper_connections, enable_mhc_connections, recompute_granularity, recompute_modules",
       [](const Subject& s) { return has_connections(s) && !selects(s, "mhc"); },
       "hyper-connections without the label mhc: their streams are held", kMainAndDev, nullptr, true},
  };
}

}  // namespace rematch::compat
