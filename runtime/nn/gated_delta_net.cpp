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

GatedDeltaNet::GatedDeltaNet(const std::string& name, const GatedDeltaNetShape& shape, const ModuleContext& context)
    : shape_(shape), norm_out_region_(context.policy.region("gdn_norm_out")) {
  if (shape.linear_num_value_heads % shape.linear_num_key_heads != 0)
    throw base::BadTrial("model.linear_num_value_heads: wanted a multiple of linear_num_key_heads (" +
                         std::to_string(shape.linear_num_key_heads) + "), found " + std::to_string(shape.linear_num_value_heads));
  const auto declare = [&](const char* unit, std::vector<std::int64_t> sizes, Init init) {
    return context.store.declare({.name = name + "." + unit, .shape = std::move(sizes), .init = init});
  };
  const auto heads = shape.linear_num_value_heads;
  input_norm_ = declare_norm_weight(context.store, name + ".in_proj.layer_norm_weight", shape.hidden_size, shape.gamma);
  in_proj_ = declare("in_proj.weight", {shape.projection_size(), shape.hidden_size}, Init::kNormal);
  conv_ = declare("conv1d.weight", {shape.conv_size(), shape.linear_conv_kernel_dim}, Init::kConv);
  dt_bias_ = declare("dt_bias", {heads}, Init::kOnes);
  a_log_ = declare("A_log", {heads}, Init::kMambaALog);
  out_norm_ = declare_norm_weight(context.store, name + ".out_norm.weight", shape.linear_value_head_dim, shape.gamma);
  out_proj_ = declare("out_proj.weight", {shape.hidden_size, shape.value_size()}, Init::kNormal);
}

// Its own function, so that what nobody saved goes before the output projection.
GatedDeltaNet::Mixed GatedDeltaNet::mix(const at::Tensor& x_TH, SequenceShape sequence) const {
  const auto heads = shape_.linear_num_value_heads;
  const auto normed_TH = rms_norm(x_TH, input_norm_->tensor, shape_.layernorm_epsilon, shape_.gamma);
  // Columns qkv, z, beta, alpha.
  const auto parts =
      at::split_with_sizes(linear_layer(normed_TH, in_proj_->tensor), {shape_.conv_size(), shape_.value_size(), heads, heads}, 1);
  const auto qkv = delta_heads(causal_conv_silu(parts[0], {.weight_CK = conv_->tensor, .batch = sequence.batch}), shape_);
  const auto gates = delta_gates(parts[2], parts[3], {dt_bias_->tensor, a_log_->tensor});
  return {.o_TD = gated_delta_rule({qkv.q_TNK, qkv.k_TNK, qkv.v_TNV, gates.g_TN, gates.beta_TN}, sequence), .z_TD = parts[1]};
}

at::Tensor GatedDeltaNet::forward(const at::Tensor& x_TH, SequenceShape sequence) const {
  const base::ModuleScope scope("self_attention");
  const auto norm_out = [this](const recompute::Tensors& in) {
    return recompute::Tensors{gated_rms_norm(in[0], in[1], out_norm_->tensor, shape_.layernorm_epsilon, shape_.gamma)};
  };
  auto normed_out = [&] {
    const auto mixed = mix(x_TH, sequence);
    return norm_out_region_.run(norm_out, {mixed.o_TD, mixed.z_TD});
  }();
  const auto y_TH = linear_layer(normed_out.tensors[0], out_proj_->tensor);
  normed_out.discard_after(y_TH);
  return y_TH;
}

}  // namespace rematch::nn
