// Overlapped expert communication against recompute, and what it wants by itself.
#include "orchestrator/compat/conditions.h"
#include "orchestrator/compat/rules.h"

namespace rematch::compat {

namespace {

constexpr auto kClass = Origin::kClass;

bool overlaps(const Subject& s) { return s.c.overlap_moe_expert_parallel_comm; }
bool has_method_or_count(const Subject& s) { return s.c.recompute_method || s.c.recompute_num_layers; }
bool overlaps_full(const Subject& s) { return overlaps(s) && is_full(s); }

bool uses_ncclep(const Subject& s) { return s.c.moe_token_dispatcher_type == "flex" && s.c.moe_flex_dispatcher_backend == "ncclep"; }

bool has_wrong_graph(const Subject& s) {
  const bool graphs_mlp = graphs_module(s, "moe") || graphs_module(s, "mlp");
  if (s.is_0161()) return has_graphs(s) && (s.r.graph_impl != "transformer_engine" || graphs_mlp);
  return s.r.graph_impl == "transformer_engine" && graphs_mlp;
}

bool has_wrong_mtp(const Subject& s) {
  const OptionalInt& count = s.c.mtp_num_layers;
  if (!count) return false;
  return s.is_0161() ? *count != 1 : *count > 1;
}

std::string dispatcher(const Subject& s) { return "found '" + s.c.moe_token_dispatcher_type.value_or("null") + "'"; }

}  // namespace

Rules overlap_rules() {
  return {
      {"M1", "", kClass, Effect::kRefuse, "overlap_moe_expert_parallel_comm, recompute_granularity", overlaps_full,
       "overlapped expert communication and full recompute exclude each other: leave one out", kUpToSnapshot},
      {"M1", "dropout", kClass, Effect::kRefuse,
       "overlap_moe_expert_parallel_comm, recompute_granularity, attention_dropout, hidden_dropout",
       [](const Subject& s) { return overlaps_full(s) && (s.c.attention_dropout != 0 || s.c.hidden_dropout != 0); },
       "full recompute of an overlapped chunk cannot replay dropout: set attention_dropout and hidden_dropout to 0", kMainAndDev},
      {"M1", "graph", kClass, Effect::kRefuse, "overlap_moe_expert_parallel_comm, recompute_granularity, cuda_graph_impl",
       [](const Subject& s) { return overlaps_full(s) && has_graphs(s); },
       "full recompute of an overlapped chunk fits no CUDA graph: set cuda_graph_impl: none", kMainAndDev},
      {"M1", "paged_stash", kClass, Effect::kRefuse, "overlap_moe_expert_parallel_comm, recompute_granularity, moe_paged_stash",
       [](const Subject& s) { return overlaps_full(s) && s.c.moe_paged_stash; },
       "full recompute of an overlapped chunk and moe_paged_stash exclude each other", kMainAndDev},
      {"M1", "delayed", kClass, Effect::kRefuse, "overlap_moe_expert_parallel_comm, recompute_granularity, fp8, fp8_recipe",
       [](const Subject& s) { return overlaps_full(s) && !s.c.fp8.value_or("").empty() && s.c.fp8_recipe == "delayed"; },
       "full recompute of an overlapped chunk would count amax twice under delayed scaling: choose another fp8_recipe", kMainAndDev},
      {"M2", "", kClass, Effect::kRefuse, "overlap_moe_expert_parallel_comm, recompute_method, recompute_num_layers",
       [](const Subject& s) { return overlaps(s) && has_method_or_count(s); },
       "overlapped expert communication wants recompute_method and recompute_num_layers unset", kAllRevisions},
      {"M3", "", kClass, Effect::kRefuse, "overlap_moe_expert_parallel_comm, recompute_modules, moe_layer_recompute",
       [](const Subject& s) { return overlaps(s) && contains(s.r.modules, "moe"); },
       "the replay of moe would repeat the overlapped communication: take moe out of recompute_modules, whatever the granularity",
       kAfter0161},
      {"M4", "ep", kClass, Effect::kRefuse, "overlap_moe_expert_parallel_comm, expert_model_parallel_size",
       [](const Subject& s) { return overlaps(s) && s.c.expert_model_parallel_size <= 1; },
       "overlapped expert communication wants expert_model_parallel_size > 1", kAllRevisions},
      {"M4", "dispatcher", kClass, Effect::kRefuse, "overlap_moe_expert_parallel_comm, moe_token_dispatcher_type",
       [](const Subject& s) {
         const Text& type = s.c.moe_token_dispatcher_type;
         return overlaps(s) && type != "alltoall" && type != "flex";
       },
       "overlapped expert communication wants moe_token_dispatcher_type alltoall or flex", kAllRevisions, dispatcher},
      {"M4", "dtype", kClass, Effect::kRefuse, "overlap_moe_expert_parallel_comm, bf16, fp16",
       [](const Subject& s) { return overlaps(s) && !s.c.bf16 && !s.c.fp16; }, "overlapped expert communication wants bf16 or fp16",
       kAllRevisions},
      {"M4", "torch", kClass, Effect::kRefuse, "overlap_moe_expert_parallel_comm, torch_version",
       [](const Subject& s) { return overlaps(s) && is_older(s.in.torch_version, "2.6.0"); },
       "overlapped expert communication hangs under a torch older than 2.6.0: use a newer one", kAllRevisions},
      {"M4", "vpp", kClass, Effect::kRefuse,
       "overlap_moe_expert_parallel_comm, pipeline_model_parallel_size, virtual_pipeline_model_parallel_size",
       [](const Subject& s) { return overlaps(s) && s.c.pipeline_model_parallel_size > 1 && !s.c.virtual_pipeline_model_parallel_size; },
       "overlapped expert communication on several pipeline stages wants virtual_pipeline_model_parallel_size set; 1 will do",
       kAllRevisions},
      {"M4", "shared_overlap", kClass, Effect::kRefuse, "overlap_moe_expert_parallel_comm, moe_shared_expert_overlap",
       [](const Subject& s) { return overlaps(s) && s.c.moe_shared_expert_overlap; },
       "overlapped expert communication wants moe_shared_expert_overlap: false, even without shared experts", kAllRevisions},
      {"M4", "mtp", kClass, Effect::kRefuse, "overlap_moe_expert_parallel_comm, mtp_num_layers",
       [](const Subject& s) { return overlaps(s) && has_wrong_mtp(s); },
       "overlapped expert communication allows one layer of multi-token prediction at most (0.16.1: unset or 1)", kAllRevisions},
      {"M4", "mtp_pp", kClass, Effect::kRefuse, "overlap_moe_expert_parallel_comm, mtp_num_layers, pipeline_model_parallel_size",
       [](const Subject& s) { return overlaps(s) && s.c.mtp_num_layers == 1 && s.c.pipeline_model_parallel_size <= 1; },
       "overlapped expert communication with multi-token prediction wants several pipeline stages", kOnly0161},
      {"overlap_graph_moe_mlp", "", kClass, Effect::kRefuse, "overlap_moe_expert_parallel_comm, cuda_graph_impl, cuda_graph_modules",
       [](const Subject& s) { return overlaps(s) && has_wrong_graph(s); },
       "overlapped expert communication allows no graph of moe or mlp (0.16.1: none but transformer_engine's): take them out",
       kAllRevisions, graph_list},
      {"overlap_ncclep_offload", "", kClass, Effect::kRefuse,
       "overlap_moe_expert_parallel_comm, moe_token_dispatcher_type, moe_flex_dispatcher_backend, fine_grained_activation_offloading, "
       "offload_modules",
       [](const Subject& s) {
         return overlaps(s) && uses_ncclep(s) && s.c.fine_grained_activation_offloading && contains(s.r.offload_modules, "expert_fc1");
       },
       "overlapped communication by ncclep frees the input that expert_fc1 would offload: take expert_fc1 out", kAfter0161},
      {"ncclep_dynamic_shape", "", kClass, Effect::kWarn,
       "overlap_moe_expert_parallel_comm, moe_token_dispatcher_type, moe_flex_dispatcher_backend, moe_ncclep_static_shape",
       [](const Subject& s) { return overlaps(s) && uses_ncclep(s) && !s.c.moe_ncclep_static_shape; },
       "ncclep with dynamic shapes waits for the device, so that nothing overlaps: set moe_ncclep_static_shape", kAfter0161, nullptr, true},
      {"M6", "", Origin::kBridge, Effect::kRefuse,
       "overlap_moe_expert_parallel_comm, recompute_granularity, recompute_method, recompute_num_layers, recompute_modules",
       [](const Subject& s) {
         const bool has_moe = s.c.recompute_modules.is_set && contains(s.c.recompute_modules.names, "moe");
         return overlaps(s) && (s.c.recompute_granularity == "full" || has_method_or_count(s) || has_moe);
       },
       "Megatron Bridge's CommOverlapConfig allows neither full recompute, a method, a count nor moe beside overlapped communication",
       kAllRevisions},
      {"delay_wgrad", "needs_overlap", kClass, Effect::kRefuse, "delay_wgrad_compute, overlap_moe_expert_parallel_comm",
       [](const Subject& s) { return s.c.delay_wgrad_compute && !overlaps(s); },
       "delay_wgrad_compute wants overlap_moe_expert_parallel_comm", kAllRevisions},
      {"delay_wgrad", "legacy_gemm", kClass, Effect::kRefuse, "delay_wgrad_compute, moe_use_legacy_grouped_gemm",
       [](const Subject& s) { return s.c.delay_wgrad_compute && s.c.moe_use_legacy_grouped_gemm; },
       "delay_wgrad_compute does not work with moe_use_legacy_grouped_gemm", kOnly0161},
      {"delay_wgrad", "te_version", kClass, Effect::kRefuse, "delay_wgrad_compute, cuda_graph_impl, te_version",
       [](const Subject& s) {
         return s.c.delay_wgrad_compute && s.r.graph_impl == "transformer_engine" && is_older(s.in.te_version, "2.10.0");
       },
       "delay_wgrad_compute with transformer_engine graphs needs Transformer Engine 2.10.0", kAllRevisions},
      {"early_attn_release", "", kClass, Effect::kRefuse, "ep_overlap_early_attn_memory_release, overlap_moe_expert_parallel_comm",
       [](const Subject& s) { return s.c.ep_overlap_early_attn_memory_release && !overlaps(s); },
       "ep_overlap_early_attn_memory_release wants overlap_moe_expert_parallel_comm", kAllRevisions},
  };
}

}  // namespace rematch::compat
