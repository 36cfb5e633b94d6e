#include "runtime/nn/mamba.h"

#include <utility>
#include <vector>

#include "runtime/base/errors.h"
#include "runtime/base/scope.h"
#include "runtime/nn/group_rms_norm.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/mamba_scan.h"
#include "runtime/nn/rms_norm.h"

namespace rematch::nn {

Mamba2Mixer::Mamba2Mixer(const std::string& name, const Mamba2Shape& shape, const ModuleContext& context) : shape_(shape) {
  if (shape.mamba_num_heads % shape.mamba_num_groups != 0)
    throw base::BadTrial("model.mamba_num_heads: wanted a multiple of mamba_num_groups (" + std::to_string(shape.mamba_num_groups) +
                         "), found " + std::to_string(shape.mamba_num_heads));
  if (context.mesh.dims().context_size() > 1)
    throw base::BadTrial("parallel.context_parallel_size: wanted 1, found " + std::to_string(context.mesh.dims().context_size()) +
                         "; Mamba2 layers have no context parallelism in this trainer");
  const auto declare = [&](const char* unit, std::vector<std::int64_t> sizes, Init init, at::ScalarType dtype = at::kBFloat16) {
    return context.store.declare({.name = name + "." + unit, .shape = std::move(sizes), .init = init, .dtype = dtype});
  };
  const auto heads = shape.mamba_num_heads;
  input_norm_ = declare("in_proj.layer_norm_weight", {shape.hidden_size}, Init::kOnes);
  in_proj_ = declare("in_proj.weight", {shape.projection_size(), shape.hidden_size}, Init::kNormal);
  conv_weight_ = declare("conv1d.weight", {shape.conv_size(), shape.d_conv}, Init::kConv);
  conv_bias_ = declare("conv1d.bias", {shape.conv_size()}, Init::kConv);
  dt_bias_ = declare("dt_bias", {heads}, Init::kMambaDtBias);
  a_log_ = declare("A_log", {heads}, Init::kMambaALog, at::kFloat);
  skip_ = declare("D", {heads}, Init::kOnes, at::kFloat);
  norm_ = declare("norm.weight", {shape.inner_size()}, Init::kOnes);
  out_proj_ = declare("out_proj.weight", {shape.hidden_size, shape.inner_size()}, Init::kNormal);
}

at::Tensor Mamba2Mixer::forward(const at::Tensor& x_TH, SequenceShape sequence) const {
  const base::ModuleScope scope("mixer");
  const Mamba2Weights weights{conv_weight_->tensor, conv_bias_->tensor, dt_bias_->tensor, a_log_->tensor, skip_->tensor};
  const auto zxbcdt_TP = linear_layer(rms_norm(x_TH, input_norm_->tensor, shape_.layernorm_epsilon), in_proj_->tensor);
  const auto y_TD = mamba2_scan(zxbcdt_TP, weights, shape_, sequence);
  return linear_layer(group_rms_norm(y_TD, norm_->tensor, shape_.mamba_num_groups, shape_.layernorm_epsilon), out_proj_->tensor);
}

}  // namespace rematch::nn
