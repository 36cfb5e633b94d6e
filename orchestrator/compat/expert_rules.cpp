// Mixture of experts: sizes, dispatchers, capacity, router.
#include "orchestrator/compat/conditions.h"
#include "orchestrator/compat/rules.h"

namespace rematch::compat {

namespace {

constexpr auto kClass = Origin::kClass;

bool is_flex(const Subject& s) { return s.c.moe_token_dispatcher_type == "flex"; }
Text backend(const Subject& s) { return s.c.moe_enable_deepep ? Text("deepep") : s.c.moe_flex_dispatcher_backend; }

bool is_deepep(const Subject& s) { return backend(s) == "deepep" || (!s.is_0161() && backend(s) == "deepepv2"); }

// From the snapshot on a model that mixes dense layers and experts may name the size all the same.
bool names_size_without_experts(const Subject& s) {
  const LayerPattern& freq = s.c.moe_layer_freq;
  bool is_mixed = freq.every.value_or(1) > 1;
  if (freq.of_layer)
    for (const std::int64_t kind : *freq.of_layer) is_mixed = is_mixed || kind == 0;
  return !s.c.num_moe_experts && s.c.moe_ffn_hidden_size && (s.is_0161() || !is_mixed);
}

bool overlaps_with_wrong_dispatcher(const Subject& s) {
  const bool is_fit = s.c.moe_token_dispatcher_type == "alltoall" || (!s.is_0161() && is_flex(s));
  return s.c.moe_shared_expert_intermediate_size && s.c.moe_shared_expert_overlap && !is_fit;
}

bool balances_wrong(const Subject& s) {
  static const Names allowed = {"aux_loss", "seq_aux_loss", "global_aux_loss", "none"};
  const NameList& types = s.c.moe_router_load_balancing_type;
  return s.c.moe_expert_capacity_factor && (!types.is_set || found_in(allowed, types.names).size() != types.names.size());
}

bool is_wrong_capacity(const Subject& s) {
  if (!s.c.moe_expert_rank_capacity_factor) return false;
  return backend(s) != "ncclep" && (backend(s) != "hybridep" || !s.c.use_transformer_engine_op_fuser);
}

bool pads_without_quantization(const Subject& s) {
  const Text& type = s.c.moe_token_dispatcher_type;
  const bool pads = s.c.moe_router_padding_for_quantization || s.c.moe_router_padding_for_fp8;
  return pads && ((!s.c.fp8 && !s.c.fp4) || type == "allgather" || type == "alltoall_seq");
}

bool needs_pre_softmax(const Subject& s) {
  const NameList& types = s.c.moe_router_load_balancing_type;
  const bool is_sinkhorn = types.is_text && types.names.front() == "sinkhorn";
  return s.c.moe_router_topk == 1 && s.c.moe_router_score_function == "softmax" && !s.c.moe_router_pre_softmax && !is_sinkhorn;
}

bool has_wrong_groups(const Subject& s) {
  const std::int64_t topk = s.c.moe_router_group_topk.value_or(0);
  const std::int64_t num_groups = s.c.moe_router_num_groups.value_or(0);
  if (topk == 0) return false;
  const bool is_limited = s.c.moe_router_topk_limited_devices.value_or(0) != 0;
  return is_limited || num_groups == 0 || !s.c.num_moe_experts || *s.c.num_moe_experts % num_groups != 0 || topk > num_groups;
}

bool has_old_te(const Subject& s) {
  if (s.c.num_moe_experts.value_or(0) == 0 || s.c.fp8.value_or("").empty()) return false;
  return is_older(s.in.te_version, "1.7.0.dev0") || (s.c.moe_grouped_gemm && is_older(s.in.te_version, "1.11.0"));
}

}  // namespace

Rules expert_rules() {
  return {
      {"M5", "", Origin::kRunTime, Effect::kRefuse, "num_moe_experts, moe_layer_freq, tensor_model_parallel_size, sequence_parallel",
       [](const Subject& s) { return has_moe_layers(s) && s.c.tensor_model_parallel_size > 1 && !s.c.sequence_parallel; },
       "a mixture of experts under tensor parallelism wants sequence_parallel in training: Megatron raises in the layer's forward; write "
       "sequence_parallel: true",
       kAllRevisions},
      {"ep_tp_no_sp", "", kClass, Effect::kWarn, "expert_model_parallel_size, tensor_model_parallel_size, sequence_parallel",
       [](const Subject& s) { return s.c.expert_model_parallel_size > 1 && s.c.tensor_model_parallel_size > 1 && !s.c.sequence_parallel; },
       "expert and tensor parallelism together want sequence_parallel in training", kAllRevisions, nullptr, true},
      {"ep_needs_experts", "", kClass, Effect::kRefuse, "expert_model_parallel_size, num_moe_experts",
       [](const Subject& s) { return s.c.expert_model_parallel_size > 1 && !s.c.num_moe_experts; },
       "expert_model_parallel_size > 1 wants num_moe_experts", kAllRevisions},
      {"experts_positive", "", kClass, Effect::kRefuse, "num_moe_experts",
       [](const Subject& s) { return s.c.num_moe_experts && *s.c.num_moe_experts <= 0; }, "num_moe_experts is 1 or more, or null",
       kAllRevisions},
      {"moe_ffn_without_experts", "", kClass, Effect::kRefuse, "moe_ffn_hidden_size, num_moe_experts, moe_layer_freq",
       names_size_without_experts, "moe_ffn_hidden_size wants num_moe_experts", kAllRevisions},
      {"moe_bias_etp", "", kClass, Effect::kRefuse,
       "num_moe_experts, add_bias_linear, expert_tensor_parallel_size, tensor_model_parallel_size",
       [](const Subject& s) { return s.c.num_moe_experts && s.c.add_bias_linear && s.r.expert_tensor_parallel_size != 1; },
       "experts with a bias are not split: set expert_tensor_parallel_size: 1 or add_bias_linear: false", kAllRevisions},
      {"moe_fp8_te", "", kClass, Effect::kRefuse, "num_moe_experts, fp8, moe_grouped_gemm, te_version", has_old_te,
       "experts under fp8 need Transformer Engine 1.7.0.dev0, grouped ones 1.11.0", kAllRevisions},
      {"deepep_dispatcher", "", kClass, Effect::kRefuse, "moe_enable_deepep, moe_token_dispatcher_type, moe_flex_dispatcher_backend",
       [](const Subject& s) {
         const Text& written = s.c.moe_flex_dispatcher_backend;
         const bool is_other = written == "hybridep" || (!s.is_0161() && written == "deepepv2");
         return s.c.moe_enable_deepep && (!is_flex(s) || is_other);
       },
       "moe_enable_deepep is deprecated and wants the flex dispatcher: write moe_flex_dispatcher_backend deepep", kAllRevisions},
      {"deepep_pad", "", kClass, Effect::kRefuse,
       "moe_token_dispatcher_type, moe_flex_dispatcher_backend, moe_enable_deepep, moe_pad_expert_input_to_capacity",
       [](const Subject& s) { return is_flex(s) && is_deepep(s) && s.c.moe_pad_expert_input_to_capacity; },
       "the deepep backend does not pad to capacity: choose another backend, or set moe_pad_expert_input_to_capacity: false",
       kAllRevisions},
      {"ncclep_dispatcher", "", kClass, Effect::kRefuse, "moe_flex_dispatcher_backend, moe_token_dispatcher_type",
       [](const Subject& s) { return backend(s) == "ncclep" && !is_flex(s); }, "the ncclep backend wants moe_token_dispatcher_type flex",
       kAfter0161},
      {"shared_expert_size", "", kClass, Effect::kRefuse, "moe_shared_expert_intermediate_size",
       [](const Subject& s) { return s.c.moe_shared_expert_intermediate_size.value_or(1) <= 0; },
       "moe_shared_expert_intermediate_size is positive, or null", kAllRevisions},
      {"shared_overlap_dispatcher", "", kClass, Effect::kRefuse,
       "moe_shared_expert_intermediate_size, moe_shared_expert_overlap, moe_token_dispatcher_type", overlaps_with_wrong_dispatcher,
       "moe_shared_expert_overlap wants the dispatcher alltoall, or flex after 0.16.1", kAllRevisions},
      {"capacity", "balancing", kClass, Effect::kRefuse, "moe_expert_capacity_factor, moe_router_load_balancing_type", balances_wrong,
       "moe_expert_capacity_factor wants load balancing by aux_loss, seq_aux_loss, global_aux_loss or none", kAllRevisions},
      {"capacity", "pad", kClass, Effect::kRefuse, "moe_pad_expert_input_to_capacity, moe_expert_capacity_factor",
       [](const Subject& s) { return s.c.moe_pad_expert_input_to_capacity && !s.r.capacity_factor; },
       "moe_pad_expert_input_to_capacity wants moe_expert_capacity_factor", kAllRevisions},
      {"capacity", "rank", kClass, Effect::kRefuse,
       "moe_expert_rank_capacity_factor, moe_flex_dispatcher_backend, use_transformer_engine_op_fuser", is_wrong_capacity,
       "moe_expert_rank_capacity_factor wants the backend ncclep, or hybridep with use_transformer_engine_op_fuser", kAfter0161},
      {"router_padding", "", kClass, Effect::kRefuse,
       "moe_router_padding_for_quantization, moe_router_padding_for_fp8, fp8, fp4, moe_token_dispatcher_type", pads_without_quantization,
       "padding of the router's map wants fp8 or fp4 and the dispatcher alltoall or flex", kAllRevisions},
      {"router_pre_softmax", "", kClass, Effect::kRefuse,
       "moe_router_topk, moe_router_score_function, moe_router_pre_softmax, moe_router_load_balancing_type", needs_pre_softmax,
       "one expert a token by softmax has no gradient: set moe_router_pre_softmax", kAllRevisions},
      {"router_groups", "", kClass, Effect::kRefuse,
       "moe_router_group_topk, moe_router_num_groups, moe_router_topk_limited_devices, num_moe_experts", has_wrong_groups,
       "moe_router_group_topk wants moe_router_num_groups, which divides the experts and is no less", kAllRevisions},
      {"expert_bias", "", kClass, Effect::kRefuse, "moe_router_enable_expert_bias, moe_router_score_function",
       [](const Subject& s) {
         const Text& score = s.c.moe_router_score_function;
         const bool is_fit = score == "sigmoid" || (!s.is_0161() && score == "sqrtsoftplus");
         return s.c.moe_router_enable_expert_bias && !is_fit;
       },
       "moe_router_enable_expert_bias wants moe_router_score_function sigmoid", kAllRevisions},
      {"allgather_variable_seq", "", kClass, Effect::kRefuse, "moe_token_dispatcher_type, variable_seq_lengths, num_moe_experts",
       [](const Subject& s) {
         return s.c.moe_token_dispatcher_type == "allgather" && s.c.variable_seq_lengths && (s.is_0161() || s.c.num_moe_experts);
       },
       "the allgather dispatcher has no variable sequence lengths: use alltoall", kAllRevisions},
  };
}

}  // namespace rematch::compat
