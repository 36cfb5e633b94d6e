#include "runtime/nn/mlp.h"

#include "runtime/base/scope.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/norm_weight.h"

namespace rematch::nn {

Mlp::Mlp(const std::string& name, const MlpShape& shape, const ModuleContext& context)
    : tensor_parallel_(context.mesh),
      activation_(shape.activation),
      fc1_input_(shape.fc1_input),
      fc1_(context.store.declare(tensor_parallel_.cut_outputs(
          {.name = name + ".linear_fc1.weight", .shape = {fc1_width(shape.activation, shape.ffn_hidden_size), shape.hidden_size}},
          fc1_sections(shape.activation, shape.ffn_hidden_size)))),
      fc2_(context.store.declare(
          tensor_parallel_.cut_inputs({.name = name + ".linear_fc2.weight", .shape = {shape.hidden_size, shape.ffn_hidden_size}}))) {}

at::Tensor Mlp::fc1(const at::Tensor& x_TH) const {
  if (fc1_input_ == Fc1Input::kOwnRows || !tensor_parallel_.shards_rows())
    return column_parallel_linear(x_TH, fc1_->tensor, tensor_parallel_);
  return linear_layer(for_own_heads(x_TH, tensor_parallel_), fc1_->tensor);
}

at::Tensor Mlp::forward(const at::Tensor& x_TH) const {
  return row_parallel_linear(activate(fc1(x_TH), activation_), fc2_->tensor, tensor_parallel_);
}

DenseMlp::DenseMlp(const std::string& name, const DenseMlpShape& shape, const ModuleContext& context)
    : shape_(shape),
      norm_(declare_norm_weight(context.store, {name + ".pre_mlp_layernorm.weight", shape.mlp.hidden_size, shape.gamma,
                                                TensorParallel(context.mesh).grad_of_rows()})),
      mlp_(name + ".mlp", shape.mlp, context),
      region_(context.policy.region("mlp")) {}

at::Tensor DenseMlp::forward(const at::Tensor& x_TH) const {
  const base::ModuleScope scope("mlp");
  const auto unit = [this](const recompute::Tensors& in) {
    return recompute::Tensors{mlp_.forward(rms_norm(in[0], norm_->tensor, shape_.layernorm_epsilon, shape_.gamma))};
  };
  return region_.run(unit, {x_TH}).tensors[0];
}

}  // namespace rematch::nn
