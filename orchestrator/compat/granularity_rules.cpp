// Granularity, method, layer counts and what becomes of an unset list.
#include "orchestrator/compat/conditions.h"
#include "orchestrator/compat/rules.h"

namespace rematch::compat {

namespace {

constexpr auto kClass = Origin::kClass;

// From main on, overlapped expert communication recomputes a whole model chunk and wants neither method nor count.
bool recomputes_chunk(const Subject& s) { return !s.is_before_main() && s.c.overlap_moe_expert_parallel_comm; }

bool is_unset_list(const Subject& s) { return early_is(s, "selective") && !s.c.recompute_modules.is_set; }

bool is_not_distributable(const Subject& s) { return s.c.tensor_model_parallel_size <= 1 || !early_is(s, "full") || !s.c.recompute_method; }

std::string granularity(const Subject& s) { return "found '" + s.r.early_granularity.value_or("null") + "'"; }
std::string method(const Subject& s) { return "found '" + s.c.recompute_method.value_or("null") + "'"; }

}  // namespace

Rules granularity_rules() {
  return {
      {"G1", "", kClass, Effect::kRefuse, "recompute_granularity",
       [](const Subject& s) { return s.r.early_granularity && !early_is(s, "full") && !early_is(s, "selective"); },
       "recompute_granularity is full, selective or null: write one of them", kAllRevisions, granularity},
      {"G2", "", kClass, Effect::kRefuse, "recompute_granularity, recompute_method",
       [](const Subject& s) {
         const Text& method = s.c.recompute_method;
         return s.r.early_granularity && method && method != "block" && method != "uniform";
       },
       "recompute_method is block or uniform: write one of them", kAllRevisions, method},
      {"G3", "", kClass, Effect::kRefuse, "recompute_granularity, recompute_method, overlap_moe_expert_parallel_comm",
       [](const Subject& s) { return early_is(s, "full") && !s.c.recompute_method && !recomputes_chunk(s); },
       "full recompute needs recompute_method: uniform or block", kAllRevisions},
      {"G4", "", kClass, Effect::kRefuse, "recompute_granularity, recompute_num_layers, overlap_moe_expert_parallel_comm",
       [](const Subject& s) { return early_is(s, "full") && !s.c.recompute_num_layers && !recomputes_chunk(s); },
       "full recompute needs recompute_num_layers", kAllRevisions},
      {"G5", "", kClass, Effect::kRefuse, "recompute_granularity, recompute_num_layers",
       [](const Subject& s) { return early_is(s, "selective") && s.c.recompute_num_layers.has_value(); },
       "selective recompute always covers all layers: leave recompute_num_layers out", kAllRevisions},
      {"G6", "", Origin::kCommandLine, Effect::kRefuse, "recompute_granularity, recompute_method",
       [](const Subject& s) { return early_is(s, "selective") && s.c.recompute_method.has_value(); },
       "recompute_method belongs to full recompute: Megatron's command line refuses it under selective; leave it out", kAllRevisions},
      {"G7", "", kClass, Effect::kRefuse, "distribute_saved_activations, recompute_granularity, sequence_parallel",
       [](const Subject& s) { return s.c.distribute_saved_activations && s.r.early_granularity.has_value() && s.c.sequence_parallel; },
       "sequence_parallel shares the saved inputs already: leave distribute_saved_activations out", kAllRevisions},
      {"G8", "", Origin::kCommandLine, Effect::kRefuse,
       "distribute_saved_activations, tensor_model_parallel_size, recompute_granularity, recompute_method",
       [](const Subject& s) { return s.c.distribute_saved_activations && is_not_distributable(s); },
       "distribute_saved_activations shares the saved inputs of full recompute among tensor-parallel ranks: Megatron's command line wants "
       "tensor_model_parallel_size > 1, granularity full and a method",
       kAllRevisions},
      {"G9", "", kClass, Effect::kIgnore, "recompute_granularity, recompute_modules",
       [](const Subject& s) { return is_full(s) && s.c.recompute_modules.is_set && !s.r.modules.empty(); },
       "labels have no effect under full recompute: Megatron does not even check them", kAllRevisions, module_list},
      {"G10", "", Origin::kCommandLine, Effect::kRewrite, "recompute_activations, recompute_granularity",
       [](const Subject& s) { return s.in.surroundings.recompute_activations; },
       "the flag recompute-activations sets recompute_granularity to selective: write the granularity and the list", kAllRevisions},
      {"G11", "", kClass, Effect::kRefuse, "moe_layer_recompute, recompute_granularity",
       [](const Subject& s) { return s.c.moe_layer_recompute && early_is(s, "full"); },
       "moe_layer_recompute and full recompute exclude each other: leave moe_layer_recompute out", kAllRevisions},
      {"G11", "alias", kClass, Effect::kRewrite, "moe_layer_recompute, recompute_granularity, recompute_modules",
       [](const Subject& s) { return s.c.moe_layer_recompute && !early_is(s, "full"); },
       "moe_layer_recompute is deprecated: granularity becomes selective and moe joins the list, after the checks of labels have passed; "
       "write recompute_modules",
       kAllRevisions, module_list, true},
      {"default_modules", "", kClass, Effect::kRewrite, "recompute_granularity, recompute_modules", is_unset_list,
       "an unset recompute_modules under selective means [core_attn]: write [] to recompute nothing", kAllRevisions},
      {"R6", "", Origin::kOurs, Effect::kRefuse, "recompute_granularity, recompute_modules", is_unset_list,
       "recompute_modules is unset under selective: write the list, [] to recompute nothing", kAllRevisions},
  };
}

}  // namespace rematch::compat
