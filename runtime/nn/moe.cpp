#include "runtime/nn/moe.h"

#include <ATen/ATen.h>

#include "runtime/base/errors.h"
#include "runtime/base/scope.h"
#include "runtime/nn/dispatch.h"
#include "runtime/nn/grouped_linear.h"

namespace rematch::nn {

namespace {

std::vector<at::Tensor> tensors_of(const std::vector<Parameter*>& parameters) {
  std::vector<at::Tensor> tensors;
  for (const auto* parameter : parameters) tensors.push_back(parameter->tensor);
  return tensors;
}

}  // namespace

MoeLayer::MoeLayer(const std::string& name, const MoeShape& shape, const mesh::Mesh& mesh, ParameterStore& store, recompute::Policy& policy)
    : shape_(shape),
      mesh_(mesh),
      router_weight_(store.declare({.name = name + ".router.weight", .shape = {shape.router.num_experts, shape.hidden_size}})),
      moe_region_(policy.region("moe")),
      activation_region_(policy.region("moe_act")) {
  if (shape.router.num_experts % mesh.expert().size() != 0)
    throw base::BadTrial("model.num_moe_experts: wanted a multiple of expert_model_parallel_size (" + std::to_string(mesh.expert().size()) +
                         "), found " + std::to_string(shape.router.num_experts));
  const auto num_local_experts = shape.router.num_experts / mesh.expert().size();
  const auto first = mesh.expert().rank() * num_local_experts;
  const auto expert_weight = [&](std::int64_t expert, const char* unit, std::int64_t outputs, std::int64_t inputs) {
    return store.declare({.name = name + ".experts." + std::to_string(expert) + "." + unit + ".weight",
                          .shape = {outputs, inputs},
                          .kind = ParameterKind::kExpert});
  };
  for (auto expert = first; expert < first + num_local_experts; ++expert) {
    fc1_.push_back(expert_weight(expert, "linear_fc1", fc1_width(shape.activation, shape.ffn_hidden_size), shape.hidden_size));
    fc2_.push_back(expert_weight(expert, "linear_fc2", shape.hidden_size, shape.ffn_hidden_size));
  }
  if (shape.shared_ffn_hidden_size > 0) {
    shared_experts_.emplace(name + ".shared_experts", MlpShape{shape.hidden_size, shape.shared_ffn_hidden_size, shape.activation}, store);
    shared_region_.emplace(policy.region("shared_experts"));
  }
}

at::Tensor MoeLayer::forward(const at::Tensor& x_TH) {
  const base::ModuleScope scope("mlp");
  return moe_region_.run([this](const recompute::Tensors& in) { return recompute::Tensors{mixture(in[0])}; }, {x_TH}).tensors[0];
}

// Shared experts come first in forward, as in Megatron Core. Their graph is then the older one, so backward ends with it, and the
// three gradients of x are summed in one order with and without regions: dispatch, router, shared experts.
at::Tensor MoeLayer::mixture(const at::Tensor& x_TH) {
  if (!shared_experts_) return routed_experts(x_TH);
  const auto shared = [this](const recompute::Tensors& in) {
    const base::ModuleScope scope("shared_experts");
    return recompute::Tensors{shared_experts_->forward(in[0])};
  };
  const auto shared_TH = shared_region_->run(shared, {x_TH}).tensors[0];
  return routed_experts(x_TH) + shared_TH;
}

at::Tensor MoeLayer::routed_experts(const at::Tensor& x_TH) {
  const base::ModuleScope scope("experts");
  const auto routing = route(x_TH, router_weight_->tensor, shape_.router);
  const auto exchange = std::make_shared<const TokenExchange>(routing.experts_TK, shape_.router.num_experts, mesh_.expert());
  tokens_received_ = exchange->num_received();
  const auto& rows = exchange->rows_per_local_expert();
  const auto activate_rows = [this](const recompute::Tensors& in) {
    return recompute::Tensors{weighted_activate(in[0], in[1], shape_.activation)};
  };

  at::Tensor y_RH;
  {
    const auto received = dispatch(exchange, x_TH, routing.probs_TK);
    auto activation = activation_region_.run(activate_rows, {grouped_linear(received.tokens_RH, tensors_of(fc1_), rows), received.probs_R});
    y_RH = grouped_linear(activation.tensors[0], tensors_of(fc2_), rows);
    activation.discard_after(y_RH);
  }
  return combine(exchange, y_RH);
}

}  // namespace rematch::nn
