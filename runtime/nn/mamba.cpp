#include "runtime/nn/mamba.h"

#include <utility>
#include <vector>

#include "runtime/base/errors.h"
#include "runtime/base/scope.h"
#include "runtime/nn/group_rms_norm.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/mamba_scan.h"
#include "runtime/nn/norm_weight.h"
#include "runtime/nn/rms_norm.h"

namespace rematch::nn {

namespace {

Mamba2Shape own_groups(Mamba2Shape shape, const TensorParallel& tensor_parallel) {
  if (shape.mamba_num_heads % shape.mamba_num_groups != 0)
    throw base::BadTrial("model.mamba_num_heads: wanted a multiple of mamba_num_groups (" + std::to_string(shape.mamba_num_groups) +
                         "), found " + std::to_string(shape.mamba_num_heads));
  shape.mamba_num_groups = tensor_parallel.share(shape.mamba_num_groups, "model.mamba_num_groups");
  shape.mamba_num_heads /= tensor_parallel.size();
  return shape;
}

}  // namespace

Mamba2Mixer::Mamba2Mixer(const std::string& name, const Mamba2Shape& shape, const ModuleContext& context)
    : tensor_parallel_(context.mesh), shape_(own_groups(shape, tensor_parallel_)) {
  if (context.mesh.dims().context_size() > 1)
    throw base::BadTrial("parallel.context_parallel_size: wanted 1, found " + std::to_string(context.mesh.dims().context_size()) +
                         "; Mamba2 layers have no context parallelism in this trainer");
  const auto named = [&](const char* unit, std::vector<std::int64_t> sizes, Init init, at::ScalarType dtype = at::kBFloat16) {
    return ParameterDeclaration{.name = name + "." + unit, .shape = std::move(sizes), .init = init, .dtype = dtype};
  };
  // Of the whole layer, cut along the first dimension.
  const auto cut = [&](ParameterDeclaration whole, std::vector<std::int64_t> sections = {}) {
    return context.store.declare(tensor_parallel_.cut_outputs(std::move(whole), std::move(sections)));
  };
  const auto heads = shape.mamba_num_heads, inner = shape.inner_size(), states = shape.group_states();
  const std::vector<std::int64_t> conv_sections = {inner, states, states};                      // x, B, C
  const std::vector<std::int64_t> projection_sections = {inner, inner, states, states, heads};  // z, x, B, C, dt
  input_norm_ = declare_norm_weight(
      context.store, {name + ".in_proj.layer_norm_weight", shape.hidden_size, Gamma::kPlain, tensor_parallel_.grad_of_rows()});
  in_proj_ = cut(named("in_proj.weight", {shape.projection_size(), shape.hidden_size}, Init::kNormal), projection_sections);
  conv_weight_ = cut(named("conv1d.weight", {shape.conv_size(), shape.d_conv}, Init::kConv), conv_sections);
  conv_bias_ = cut(named("conv1d.bias", {shape.conv_size()}, Init::kConv), conv_sections);
  dt_bias_ = cut(named("dt_bias", {heads}, Init::kMambaDtBias));
  a_log_ = cut(named("A_log", {heads}, Init::kMambaALog, at::kFloat));
  skip_ = cut(named("D", {heads}, Init::kOnes, at::kFloat));
  norm_ = cut(named("norm.weight", {inner}, Init::kOnes));
  out_proj_ = context.store.declare(tensor_parallel_.cut_inputs(named("out_proj.weight", {shape.hidden_size, inner}, Init::kNormal)));
}

at::Tensor Mamba2Mixer::forward(const at::Tensor& x_TH, SequenceShape sequence) const {
  const base::ModuleScope scope("mixer");
  const Mamba2Weights weights{conv_weight_->tensor, conv_bias_->tensor, dt_bias_->tensor, a_log_->tensor, skip_->tensor};
  const auto zxbcdt_TP =
      column_parallel_linear(rms_norm(x_TH, input_norm_->tensor, shape_.layernorm_epsilon), in_proj_->tensor, tensor_parallel_);
  const auto y_TD = mamba2_scan(zxbcdt_TP, weights, shape_, sequence);
  return row_parallel_linear(group_rms_norm(y_TD, norm_->tensor, shape_.mamba_num_groups, shape_.layernorm_epsilon), out_proj_->tensor,
                             tensor_parallel_);
}

}  // namespace rematch::nn
