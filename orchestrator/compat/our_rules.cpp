// What Megatron accepts and this program refuses.
#include "orchestrator/compat/conditions.h"
#include "orchestrator/compat/of_trial.h"
#include "orchestrator/compat/rules.h"

namespace rematch::compat {

namespace {

constexpr auto kOurs = Origin::kOurs;

bool has_layers_out_of_range(const Subject& s) {
  const OptionalInt& count = s.c.recompute_num_layers;
  return is_full(s) && count && (*count < 1 || *count > num_layers_of_chunk(s));
}

std::string layers_of_model(const Subject& s) {
  const bool is_split = s.c.pipeline_model_parallel_size > 1;
  return "wanted 1 to " + std::to_string(num_layers_of_chunk(s)) + (is_split ? " layers of a model chunk" : "") + ", found " +
         std::to_string(*s.c.recompute_num_layers);
}

std::string shared_experts_without_site(const Subject& s) {
  return s.setting == nullptr ? "" : no_site_reason(*s.setting, "shared_experts");
}

}  // namespace

Rules our_rules() {
  return {
      {"R1", "", kOurs, Effect::kRefuse, "recompute_granularity, recompute_modules, trainer.families",
       [](const Subject& s) { return s.setting != nullptr && !labels_without_unit(*s.setting).empty(); },
       "the core revision knows the label, and no model family of this trainer has a unit for it", kAllRevisions,
       [](const Subject& s) { return labels_without_unit(*s.setting); }},
      {"R2", "", kOurs, Effect::kRefuse,
       "recompute_granularity, recompute_num_layers, num_layers, pipeline_model_parallel_size, virtual_pipeline_model_parallel_size",
       has_layers_out_of_range,
       "recompute_num_layers must name layers that the model has; Megatron accepts any number and clamps it or loops", kAllRevisions,
       layers_of_model},
      {"R3", "", kOurs, Effect::kRefuse, "trainer.families, tensor_model_parallel_size, context_parallel_size",
       [](const Subject& s) { return s.setting != nullptr && !unsplit_layers(*s.setting).empty(); },
       "this trainer does not split such layers over that axis: write 1", kAllRevisions,
       [](const Subject& s) { return unsplit_layers(*s.setting); }},
      {"R4", "", kOurs, Effect::kRefuse, "backend.attention, context_parallel_size",
       [](const Subject& s) {
         return s.setting != nullptr && s.setting->trial.backend.attention == "unfused" && s.c.context_parallel_size > 1 &&
                family_has(*s.setting, "core_attn");
       },
       "context parallelism is for fused attention: write attention: fused, or context_parallel_size: 1", kAllRevisions},
      {"R5", "", kOurs, Effect::kRefuse, "moe_shared_expert_overlap, moe_shared_expert_intermediate_size, num_moe_experts",
       [](const Subject& s) { return s.c.moe_shared_expert_overlap && !has_shared_experts(s); },
       "there are no shared experts to overlap: leave moe_shared_expert_overlap out", kAllRevisions, shared_experts_without_site},
  };
}

}  // namespace rematch::compat
