#include "runtime/nn/gqa.h"

#include <cmath>

#include "runtime/base/errors.h"
#include "runtime/base/scope.h"
#include "runtime/nn/gqa_heads.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/norm_weight.h"
#include "runtime/nn/output_gate.h"

namespace rematch::nn {

namespace {

const GqaShape& checked(const GqaShape& shape) {
  if (shape.num_query_groups < 1 || shape.num_attention_heads % shape.num_query_groups != 0)
    throw base::BadTrial("model.num_query_groups: wanted a divisor of num_attention_heads (" + std::to_string(shape.num_attention_heads) +
                         "), found " + std::to_string(shape.num_query_groups));
  if (shape.rotary_channels() % 2 != 0)
    throw base::BadTrial("model.rotary_percent: wanted an even number of rotary channels a head, found " +
                         std::to_string(shape.rotary_channels()) + " of kv_channels (" + std::to_string(shape.kv_channels) + ")");
  return shape;
}

GqaShape own_heads(GqaShape shape, const TensorParallel& tensor_parallel) {
  shape.num_query_groups = tensor_parallel.share(shape.num_query_groups, "model.num_query_groups");
  shape.num_attention_heads /= tensor_parallel.size();
  return shape;
}

}  // namespace

std::int64_t GqaShape::rotary_channels() const {
  switch (position_embedding_type) {
    case PositionEmbedding::kRope: return static_cast<std::int64_t>(static_cast<double>(kv_channels) * rotary_percent);
    case PositionEmbedding::kNone: return 0;
  }
  return 0;
}

GroupedQueryAttention::GroupedQueryAttention(const std::string& name, const GqaShape& shape, const ModuleContext& context)
    : tensor_parallel_(context.mesh),
      shape_(own_heads(checked(shape), tensor_parallel_)),
      core_attention_{.backend = shape.attention_backend,
                      .scale = 1.0 / std::sqrt(static_cast<double>(shape.kv_channels)),
                      .attention_dropout = shape.attention_dropout,
                      .streams = attention_streams(context, tensor_parallel_),
                      .context = context_group(context.mesh)},
      norm_(declare_norm_weight(context.store,
                                {name + ".linear_qkv.layer_norm_weight", shape.hidden_size, shape.gamma, tensor_parallel_.grad_of_rows()})),
      qkv_(context.store.declare(
          tensor_parallel_.cut_outputs({.name = name + ".linear_qkv.weight", .shape = {mixed_width(shape), shape.hidden_size}}))),
      projection_(context.store.declare(tensor_parallel_.cut_inputs(
          {.name = name + ".linear_proj.weight", .shape = {shape.hidden_size, shape.num_attention_heads * shape.kv_channels}}))),
      core_attn_region_(context.policy.region("core_attn")) {
  if (!shape.qk_layernorm) return;
  const auto head_norm = [&](const char* unit) {
    return declare_norm_weight(context.store, {name + unit, shape.kv_channels, shape.gamma, tensor_parallel_.grad_of_heads()});
  };
  q_norm_ = head_norm(".q_layernorm.weight");
  k_norm_ = head_norm(".k_layernorm.weight");
}

// What only leads to q, k, v and the gate goes when this returns.
GroupedQueryAttention::Projected GroupedQueryAttention::project(const at::Tensor& x_TH, SequenceShape sequence) const {
  const auto normed = [this](const at::Tensor& x, const Parameter* weight) {
    return weight ? rms_norm(x, weight->tensor, shape_.layernorm_epsilon, shape_.gamma) : x;
  };
  const auto heads = split_heads(column_parallel_linear(normed(x_TH, norm_), qkv_->tensor, tensor_parallel_), shape_, sequence);
  return {.q_BNSE = place_heads(normed(heads.q_RE, q_norm_), shape_, sequence),
          .k_BGSE = place_heads(normed(heads.k_RE, k_norm_), shape_, sequence),
          .v_BGSE = heads.v_BGSE,
          .gate_TD = heads.gate_TD};
}

at::Tensor GroupedQueryAttention::forward(const at::Tensor& x_TH, SequenceShape sequence) const {
  const base::ModuleScope scope("self_attention");
  const auto attention = [this](const recompute::Tensors& in) {
    return recompute::Tensors{core_attention(in[0], in[1], in[2], core_attention_)};
  };
  at::Tensor o_TD;
  {
    const auto projected = project(x_TH, sequence);
    o_TD = core_attn_region_.run(attention, {projected.q_BNSE, projected.k_BGSE, projected.v_BGSE}).tensors[0];
    if (shape_.attention_output_gate) o_TD = gate_output(o_TD, projected.gate_TD);
  }
  return row_parallel_linear(o_TD, projection_->tensor, tensor_parallel_);
}

}  // namespace rematch::nn
