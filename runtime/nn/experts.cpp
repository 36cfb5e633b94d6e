#include "runtime/nn/experts.h"

#include <ATen/ATen.h>

#include "runtime/nn/grouped_linear.h"

namespace rematch::nn {

namespace {

std::vector<at::Tensor> tensors_of(const std::vector<Parameter*>& parameters) {
  std::vector<at::Tensor> tensors;
  for (const auto* parameter : parameters) tensors.push_back(parameter->tensor);
  return tensors;
}

}  // namespace

RoutedExperts::RoutedExperts(const std::string& name, const ExpertsShape& shape, const ModuleContext& context)
    : activation_(shape.activation) {
  const auto& group = context.mesh.expert_tensor();
  const auto weight = [&](std::int64_t expert, const char* unit, std::vector<std::int64_t> whole, std::int64_t dim,
                          std::vector<std::int64_t> sections) {
    return context.store.declare(split_parameter(
        {.name = name + "." + std::to_string(expert) + "." + unit + ".weight", .shape = std::move(whole), .kind = ParameterKind::kExpert},
        {.dim = dim, .sections = std::move(sections), .rank = group.rank(), .count = group.size()}));
  };
  const auto ffn = shape.ffn_hidden_size, hidden = shape.hidden_size;
  for (auto expert = shape.first_expert; expert < shape.first_expert + shape.num_local_experts; ++expert) {
    fc1_.push_back(weight(expert, "linear_fc1", {fc1_width(shape.activation, ffn), hidden}, 0, fc1_sections(shape.activation, ffn)));
    fc2_.push_back(weight(expert, "linear_fc2", {hidden, ffn}, 1, {}));
  }
  if (shape.grouped_gemm) activation_region_.emplace(context.policy.region("moe_act"));
}

at::Tensor RoutedExperts::forward(const at::Tensor& x_RH, const at::Tensor& probs_R, const std::vector<std::int64_t>& rows) const {
  const auto act = [activation = activation_](const recompute::Tensors& in) {
    return recompute::Tensors{weighted_activate(in[0], in[1], activation)};
  };
  // Not named: FC1's output goes as soon as nobody saved it.
  const auto fc1 = [&] { return recompute::Tensors{grouped_linear(x_RH, tensors_of(fc1_), rows), probs_R}; };
  auto activation = activation_region_ ? activation_region_->run(act, fc1()) : recompute::RegionOutput::plain(act(fc1()));
  auto y_RH = grouped_linear(activation.tensors[0], tensors_of(fc2_), rows);
  activation.discard_after(y_RH);
  return y_RH;
}

}  // namespace rematch::nn
