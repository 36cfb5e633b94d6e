// Offloading of activations: whole layers to the CPU, module by module, and paged stashes.
#include "orchestrator/compat/conditions.h"
#include "orchestrator/compat/rules.h"

namespace rematch::compat {

namespace {

constexpr auto kClass = Origin::kClass;

bool is_fine_grained(const Subject& s) { return s.c.fine_grained_activation_offloading; }
bool offloads(const Subject& s, std::string_view module) { return contains(s.r.offload_modules, module); }

Names known_modules(const Subject& s) {
  Names names = {"core_attn", "attn_proj", "expert_fc1", "moe_act", "attn_norm", "mlp_norm", "qkv_linear"};
  if (!s.is_0161()) names.emplace_back("fused_group_mlp");
  return names;
}

Names unknown_of(const Subject& s) {
  Names unknown;
  for (const std::string& name : s.r.offload_modules)
    if (!contains(known_modules(s), name)) unknown.push_back(name);
  return unknown;
}

Names expert_modules(const Subject& s) { return found_in(s.r.offload_modules, {"moe_act", "expert_fc1", "fused_group_mlp"}); }

std::string unknown_modules(const Subject& s) { return joined(unknown_of(s)) + "; wanted " + joined(known_modules(s)); }
std::string expert_list(const Subject& s) { return "offload_modules: " + joined(expert_modules(s)); }
std::string layer_range(const Subject& s) {
  return "wanted 0 to " + std::to_string(s.c.num_layers - 1) + ", found " + std::to_string(s.c.cpu_offloading_num_layers);
}

bool is_out_of_range(const Subject& s) {
  const double fraction = s.c.activation_offload_fraction;
  return s.c.min_offloaded_tensor_size < 0 || fraction < 0 || fraction > 1 || s.c.delta_offload_bytes_across_pp_ranks < 0;
}

bool has_other_module_than_experts(const Subject& s) {
  return expert_modules(s).size() < s.r.offload_modules.size() && !s.r.offload_modules.empty();
}

bool is_fine_grained_in_graph(const Subject& s, std::string_view impl) { return is_fine_grained(s) && s.r.graph_impl == impl; }

}  // namespace

Rules offload_rules() {
  return {
      {"O1", "", kClass, Effect::kRefuse, "cpu_offloading, pipeline_model_parallel_size",
       [](const Subject& s) { return s.c.cpu_offloading && s.c.pipeline_model_parallel_size > 1; },
       "cpu_offloading has no pipeline parallelism: set pipeline_model_parallel_size: 1 or leave cpu_offloading out", kAllRevisions},
      {"O2", "", kClass, Effect::kRefuse, "cpu_offloading, recompute_granularity",
       [](const Subject& s) { return s.c.cpu_offloading && s.r.early_granularity.has_value(); },
       "cpu_offloading allows no recompute, not even an empty selective list: use recompute_granularity: null for the control",
       kAllRevisions},
      {"O3", "", kClass, Effect::kRefuse, "cpu_offloading, cpu_offloading_num_layers, num_layers",
       [](const Subject& s) {
         const std::int64_t count = s.c.cpu_offloading_num_layers;
         return s.c.cpu_offloading && (count < 0 || count >= s.c.num_layers);
       },
       "cpu_offloading_num_layers must be less than num_layers and not negative", kAllRevisions, layer_range},
      {"O4", "", kClass, Effect::kRefuse, "fine_grained_activation_offloading, cpu_offloading",
       [](const Subject& s) { return is_fine_grained(s) && s.c.cpu_offloading; },
       "fine_grained_activation_offloading and cpu_offloading exclude each other: leave one out", kAllRevisions},
      {"O5", "empty", kClass, Effect::kRefuse, "fine_grained_activation_offloading, offload_modules",
       [](const Subject& s) { return is_fine_grained(s) && s.r.offload_modules.empty(); },
       "fine_grained_activation_offloading wants offload_modules: name at least one", kAllRevisions},
      {"O5", "name", kClass, Effect::kRefuse, "fine_grained_activation_offloading, offload_modules",
       [](const Subject& s) { return is_fine_grained(s) && !unknown_of(s).empty(); },
       "offload_modules has a name that this core revision does not know", kAllRevisions, unknown_modules},
      {"O6", "", kClass, Effect::kRefuse, "fine_grained_activation_offloading, offload_modules",
       [](const Subject& s) { return is_fine_grained(s) && offloads(s, "attn_proj") && !offloads(s, "core_attn"); },
       "attn_proj's input is core_attn's output, which attention needs in backward: offload core_attn as well", kAllRevisions},
      {"O7", "", kClass, Effect::kRefuse, "fine_grained_activation_offloading, offload_modules, recompute_granularity, recompute_modules",
       [](const Subject& s) { return is_fine_grained(s) && selects(s, "moe") && !expert_modules(s).empty(); },
       "inside a recomputed MoE layer nothing is held that could be offloaded: leave moe or these modules out", kAfter0161, expert_list},
      {"O8", "op_fuser", kClass, Effect::kRefuse, "fine_grained_activation_offloading, offload_modules, use_transformer_engine_op_fuser",
       [](const Subject& s) { return is_fine_grained(s) && offloads(s, "fused_group_mlp") && !s.c.use_transformer_engine_op_fuser; },
       "fused_group_mlp wants use_transformer_engine_op_fuser", kAfter0161},
      {"O8", "parts", kClass, Effect::kRefuse, "fine_grained_activation_offloading, offload_modules",
       [](const Subject& s) {
         return is_fine_grained(s) && offloads(s, "fused_group_mlp") && (offloads(s, "expert_fc1") || offloads(s, "moe_act"));
       },
       "fused_group_mlp offloads the whole expert MLP: leave expert_fc1 and moe_act out", kAfter0161},
      {"O9", "local_modules", kClass, Effect::kRefuse, "fine_grained_activation_offloading, offload_modules, cuda_graph_impl",
       [](const Subject& s) { return is_fine_grained_in_graph(s, "local") && has_other_module_than_experts(s); },
       "under local CUDA graphs only expert_fc1, moe_act and fused_group_mlp can be offloaded", kAfter0161},
      {"O9", "local_whole_layer", kClass, Effect::kRefuse, "fine_grained_activation_offloading, cuda_graph_impl, cuda_graph_modules",
       [](const Subject& s) { return is_fine_grained_in_graph(s, "local") && s.r.graph_modules.empty(); },
       "whole-layer local CUDA graphs allow no offloading: name cuda_graph_modules without moe", kAfter0161},
      {"O9", "moe_graph", kClass, Effect::kRefuse, "fine_grained_activation_offloading, cuda_graph_impl, cuda_graph_modules",
       [](const Subject& s) { return is_fine_grained(s) && graphs_module(s, "moe"); },
       "a graphed moe allows no offloading: take moe out of cuda_graph_modules", kAfter0161},
      {"O9", "warmup", kClass, Effect::kRefuse, "fine_grained_activation_offloading, cuda_graph_impl, cuda_graph_warmup_steps",
       [](const Subject& s) { return is_fine_grained(s) && has_graphs(s) && s.c.cuda_graph_warmup_steps <= 0; },
       "offloading under CUDA graphs wants cuda_graph_warmup_steps > 0", kAfter0161},
      {"O9", "inflight", kClass, Effect::kRefuse,
       "fine_grained_activation_offloading, cuda_graph_impl, fine_grained_offloading_max_inflight_offloads",
       [](const Subject& s) {
         const OptionalInt& count = s.c.fine_grained_offloading_max_inflight_offloads;
         return is_fine_grained(s) && (count ? *count < 0 : s.r.graph_impl == "full_iteration");
       },
       "fine_grained_offloading_max_inflight_offloads is 0 or more, and must be set under a full_iteration graph", kAfter0161},
      {"O10", "cpu_offloading", kClass, Effect::kRefuse, "moe_paged_stash, cpu_offloading",
       [](const Subject& s) { return s.c.moe_paged_stash && s.c.cpu_offloading; },
       "moe_paged_stash and cpu_offloading exclude each other: leave one out", kAfter0161},
      {"O10", "capacity", kClass, Effect::kRefuse, "moe_paged_stash, moe_expert_rank_capacity_factor",
       [](const Subject& s) { return s.c.moe_paged_stash && !s.c.moe_expert_rank_capacity_factor; },
       "moe_paged_stash wants moe_expert_rank_capacity_factor", kAfter0161},
      {"O10", "modules", kClass, Effect::kRefuse, "moe_paged_stash, offload_modules",
       [](const Subject& s) { return s.c.moe_paged_stash && !expert_modules(s).empty(); },
       "moe_paged_stash holds the experts' activations already: take these out of offload_modules", kAfter0161, expert_list},
      {"offload_modules_null", "", kClass, Effect::kRefuse, "moe_paged_stash, offload_modules",
       [](const Subject& s) { return s.c.moe_paged_stash && !s.c.offload_modules.is_set; },
       "moe_paged_stash reads offload_modules: write [] in place of null", kAfter0161},
      {"offload_range", "", kClass, Effect::kRefuse,
       "fine_grained_activation_offloading, min_offloaded_tensor_size, activation_offload_fraction, delta_offload_bytes_across_pp_ranks",
       [](const Subject& s) { return is_fine_grained(s) && is_out_of_range(s); },
       "min_offloaded_tensor_size and delta_offload_bytes_across_pp_ranks are 0 or more, activation_offload_fraction is 0 to 1",
       kAfter0161},
  };
}

}  // namespace rematch::compat
