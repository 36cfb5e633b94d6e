#include "runtime/nn/mlp.h"

#include "runtime/base/scope.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/rms_norm.h"
#include "runtime/nn/swiglu.h"

namespace rematch::nn {

GatedMlp::GatedMlp(const std::string& name, std::int64_t hidden_size, std::int64_t ffn_hidden_size, ParameterStore& store)
    : fc1_(store.declare({.name = name + ".linear_fc1.weight", .shape = {2 * ffn_hidden_size, hidden_size}})),
      fc2_(store.declare({.name = name + ".linear_fc2.weight", .shape = {hidden_size, ffn_hidden_size}})) {}

at::Tensor GatedMlp::forward(const at::Tensor& x_TH) const { return linear_layer(swiglu(linear_layer(x_TH, fc1_->tensor)), fc2_->tensor); }

DenseMlp::DenseMlp(const std::string& name, std::int64_t hidden_size, std::int64_t ffn_hidden_size, double layernorm_epsilon,
                   ParameterStore& store, recompute::Policy& policy)
    : norm_(store.declare({.name = name + ".pre_mlp_layernorm.weight", .shape = {hidden_size}, .init = Init::kOnes})),
      mlp_(name + ".mlp", hidden_size, ffn_hidden_size, store),
      layernorm_epsilon_(layernorm_epsilon),
      region_(policy.region("mlp")) {}

at::Tensor DenseMlp::forward(const at::Tensor& x_TH) const {
  const base::ModuleScope scope("mlp");
  const auto unit = [this](const recompute::Tensors& in) {
    return recompute::Tensors{mlp_.forward(rms_norm(in[0], norm_->tensor, layernorm_epsilon_))};
  };
  return region_.run(unit, {x_TH}).tensors[0];
}

}  // namespace rematch::nn
