#include "runtime/nn/gated_delta_net.h"

#include <ATen/ATen.h>

#include <utility>
#include <vector>

#include "runtime/base/errors.h"
#include "runtime/base/scope.h"
#include "runtime/nn/causal_conv.h"
#include "runtime/nn/delta_net_inputs.h"
#include "runtime/nn/gated_delta_rule.h"
#include "runtime/nn/group_rms_norm.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/norm_weight.h"

namespace rematch::nn {

namespace {

// Value heads are a multiple of the key heads, so they divide too.
GatedDeltaNetShape share_of_heads(GatedDeltaNetShape shape, int context_size) {
  if (shape.linear_num_key_heads % context_size != 0)
    throw base::BadTrial("model.linear_num_key_heads: wanted a multiple of context_parallel_size (" + std::to_string(context_size) +
                         ") on each tensor-parallel rank, found " + std::to_string(shape.linear_num_key_heads));
  shape.linear_num_key_heads /= context_size;
  shape.linear_num_value_heads /= context_size;
  return shape;
}

GatedDeltaNetShape own_heads(GatedDeltaNetShape shape, const TensorParallel& tensor_parallel) {
  if (shape.linear_num_value_heads % shape.linear_num_key_heads != 0)
    throw base::BadTrial("model.linear_num_value_heads: wanted a multiple of linear_num_key_heads (" +
                         std::to_string(shape.linear_num_key_heads) + "), found " + std::to_string(shape.linear_num_value_heads));
  shape.linear_num_key_heads = tensor_parallel.share(shape.linear_num_key_heads, "model.linear_num_key_heads");
  shape.linear_num_value_heads /= tensor_parallel.size();
  return shape;
}

}  // namespace

GatedDeltaNet::GatedDeltaNet(const std::string& name, const GatedDeltaNetShape& shape, const ModuleContext& context)
    : tensor_parallel_(context.mesh),
      shape_(own_heads(shape, tensor_parallel_)),
      context_heads_(context.mesh.context()),
      share_(share_of_heads(shape_, context_heads_.size())),
      norm_out_region_(context.policy.region("gdn_norm_out")) {
  const auto named = [&](const char* unit, std::vector<std::int64_t> sizes, Init init) {
    return ParameterDeclaration{.name = name + "." + unit, .shape = std::move(sizes), .init = init};
  };
  // Of the whole layer, cut along the first dimension.
  const auto cut = [&](ParameterDeclaration whole, std::vector<std::int64_t> sections = {}) {
    return context.store.declare(tensor_parallel_.cut_outputs(std::move(whole), std::move(sections)));
  };
  const auto norm = [&](const char* unit, std::int64_t width, TensorGrad tensor_grad) {
    return declare_norm_weight(context.store, {name + "." + unit, width, shape.gamma, tensor_grad});
  };
  const auto heads = shape.linear_num_value_heads, key = shape.key_size(), value = shape.value_size();
  const std::vector<std::int64_t> conv_sections = {key, key, value};                             // q, k, v
  const std::vector<std::int64_t> projection_sections = {key, key, value, value, heads, heads};  // q, k, v, z, beta, alpha
  input_norm_ = norm("in_proj.layer_norm_weight", shape.hidden_size, tensor_parallel_.grad_of_rows());
  in_proj_ = cut(named("in_proj.weight", {shape.projection_size(), shape.hidden_size}, Init::kNormal), projection_sections);
  conv_ = cut(named("conv1d.weight", {shape.conv_size(), shape.linear_conv_kernel_dim}, Init::kConv), conv_sections);
  dt_bias_ = cut(named("dt_bias", {heads}, Init::kOnes));
  a_log_ = cut(named("A_log", {heads}, Init::kMambaALog));
  out_norm_ = norm("out_norm.weight", shape.linear_value_head_dim, tensor_parallel_.grad_of_heads());
  out_proj_ = context.store.declare(tensor_parallel_.cut_inputs(named("out_proj.weight", {shape.hidden_size, value}, Init::kNormal)));
}

// Its own function, so that what nobody saved goes before the output projection.
GatedDeltaNet::Mixed GatedDeltaNet::mix(const at::Tensor& x_TH, SequenceShape sequence) const {
  const auto key_size = shape_.key_size(), value_size = shape_.value_size(), heads = shape_.linear_num_value_heads;
  const auto normed_TH = rms_norm(x_TH, input_norm_->tensor, shape_.layernorm_epsilon, shape_.gamma);
  const auto projected_TD = context_heads_.to_heads(column_parallel_linear(normed_TH, in_proj_->tensor, tensor_parallel_),
                                                    {key_size, key_size, value_size, value_size, heads, heads}, sequence);
  // Columns qkv, z, beta, alpha.
  const auto parts = at::split_with_sizes(
      projected_TD, {share_.conv_size(), share_.value_size(), share_.linear_num_value_heads, share_.linear_num_value_heads}, 1);
  const auto conv_CK = context_heads_.share_of(conv_->tensor, {key_size, key_size, value_size});
  const auto qkv = delta_heads(causal_conv_silu(parts[0], {.weight_CK = conv_CK, .batch = sequence.batch}), share_);
  const auto gates = delta_gates(parts[2], parts[3],
                                 {context_heads_.share_of(dt_bias_->tensor, {heads}), context_heads_.share_of(a_log_->tensor, {heads})});
  const SequenceShape whole{.length = sequence.length * context_heads_.size(), .batch = sequence.batch};
  return {.o_TD = gated_delta_rule({qkv.q_TNK, qkv.k_TNK, qkv.v_TNV, gates.g_TN, gates.beta_TN}, whole), .z_TD = parts[1]};
}

at::Tensor GatedDeltaNet::forward(const at::Tensor& x_TH, SequenceShape sequence) const {
  const base::ModuleScope scope("self_attention");
  const auto norm_out = [this, sequence](const recompute::Tensors& in) {
    const auto normed = gated_rms_norm(in[0], in[1], out_norm_->tensor, shape_.layernorm_epsilon, shape_.gamma);
    return recompute::Tensors{context_heads_.to_context(normed, {shape_.value_size()}, sequence)};
  };
  auto normed_out = [&] {
    const auto mixed = mix(x_TH, sequence);
    return norm_out_region_.run(norm_out, {mixed.o_TD, mixed.z_TD});
  }();
  const auto y_TH = row_parallel_linear(normed_out.tensors[0], out_proj_->tensor, tensor_parallel_);
  normed_out.discard_after(y_TH);
  return y_TH;
}

}  // namespace rematch::nn
