#include "runtime/nn/moe.h"

#include <ATen/ATen.h>

#include "runtime/base/errors.h"
#include "runtime/base/scope.h"
#include "runtime/nn/dispatch.h"
#include "runtime/nn/jitter.h"
#include "runtime/nn/kernel.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/output_gate.h"

namespace rematch::nn {

namespace {

ExpertsShape local_experts(const MoeShape& shape, const mesh::Mesh& mesh) {
  const auto& group = mesh.expert();
  if (shape.router.num_experts % group.size() != 0)
    throw base::BadTrial("model.num_moe_experts: wanted a multiple of expert_model_parallel_size (" + std::to_string(group.size()) +
                         "), found " + std::to_string(shape.router.num_experts));
  const auto& tensor_group = mesh.expert_tensor();
  if (shape.ffn_hidden_size % tensor_group.size() != 0)
    throw base::BadTrial("model.moe_ffn_hidden_size: wanted a multiple of expert_tensor_parallel_size (" +
                         std::to_string(tensor_group.size()) + "), found " + std::to_string(shape.ffn_hidden_size));
  const auto num_local_experts = shape.router.num_experts / group.size();
  return {.hidden_size = shape.hidden_size,
          .ffn_hidden_size = shape.ffn_hidden_size,
          .first_expert = group.rank() * num_local_experts,
          .num_local_experts = num_local_experts,
          .activation = shape.activation,
          .grouped_gemm = shape.grouped_gemm};
}

}  // namespace

MoeLayer::MoeLayer(const std::string& name, const MoeShape& shape, const ModuleContext& context, double loss_scale)
    : shape_(shape),
      mesh_(context.mesh),
      loss_scale_(loss_scale),
      tracker_({.num_experts = shape.router.num_experts,
                .topk = shape.router.topk,
                .load_balancing = shape.router.load_balancing,
                .bias_update_rate = shape.bias_update_rate},
               context.mesh),
      router_weight_(context.store.declare({.name = name + ".router.weight",
                                            .shape = {shape.router.num_experts, shape.hidden_size},
                                            .tensor_grad = TensorParallel(context.mesh).grad_of_rows()})),
      experts_(name + ".experts", local_experts(shape, context.mesh), context),
      moe_region_(context.policy.region("moe")) {
  if (shape.shared_ffn_hidden_size == 0) return;
  const auto fc1_input = shape.shared_expert_overlap ? Fc1Input::kAllRows : Fc1Input::kOwnRows;
  shared_experts_.emplace(name + ".shared_experts", MlpShape{shape.hidden_size, shape.shared_ffn_hidden_size, shape.activation, fc1_input},
                          context);
  if (shape.shared_expert_gate)
    shared_gate_ = context.store.declare({.name = name + ".shared_experts.gate_weight",
                                          .shape = {1, shape.hidden_size},
                                          .tensor_grad = TensorParallel(context.mesh).grad_of_rows()});
  if (!shape.shared_expert_overlap) shared_region_.emplace(context.policy.region("shared_experts"));
}

at::Tensor MoeLayer::forward(const at::Tensor& x_TH, SequenceShape sequence) {
  const base::ModuleScope scope("mlp");
  const auto all = [this, sequence](const recompute::Tensors& in) { return recompute::Tensors{mixture(in[0], sequence)}; };
  return moe_region_.run(all, {x_TH}).tensors[0];
}

// Shared experts come first in forward, as in Megatron Core. Their graph is then the older one, so backward ends with it, and the
// three gradients of x are summed in one order with and without regions: dispatch, router, shared experts.
at::Tensor MoeLayer::mixture(const at::Tensor& x_TH, SequenceShape sequence) {
  if (!shared_experts_) return routed_experts(x_TH, sequence);
  const auto shared_TH = shared_experts(x_TH);
  const auto routed_TH = routed_experts(x_TH, sequence);
  auto sum_TH = routed_TH + shared_TH;
  count_moved({sum_TH, routed_TH, shared_TH});
  return sum_TH;
}

at::Tensor MoeLayer::shared_experts(const at::Tensor& x_TH) const {
  const base::ModuleScope scope("shared_experts");
  const auto shared = [this](const recompute::Tensors& in) {
    if (!shared_gate_) return recompute::Tensors{shared_experts_->forward(in[0])};
    // One node for both uses: their gradients are summed before they join x's others, as in a replay.
    const auto both_TH = in[0].alias();
    return recompute::Tensors{gate_output(shared_experts_->forward(both_TH), linear_layer(both_TH, shared_gate_->tensor))};
  };
  return shared_region_ ? shared_region_->run(shared, {x_TH}).tensors[0] : shared({x_TH})[0];
}

at::Tensor MoeLayer::routed_experts(const at::Tensor& x_TH, SequenceShape sequence) {
  const auto routing = [&] {
    const base::ModuleScope scope("router");
    const auto input_TH = shape_.input_jitter_epsilon > 0 ? jittered(x_TH, shape_.input_jitter_epsilon) : x_TH;
    const auto rows = TensorParallel(mesh_).rows_of(sequence);
    const auto first_token = mesh_.group(protocol::Axis::kTensorContext).rank() * rows.num_tokens();
    return route(input_TH, router_weight_->tensor, shape_.router, {rows, tracker_, loss_scale_, first_token});
  }();
  const base::ModuleScope scope("experts");
  const auto exchange = std::make_shared<const TokenExchange>(routing.experts_TK, shape_.router.num_experts,
                                                              ExpertGroups{mesh_.expert(), mesh_.expert_tensor()}, shape_.assumed_shares);
  tokens_received_ = exchange->num_received();
  at::Tensor y_RH;
  {
    const auto received = dispatch(exchange, x_TH, routing.probs_TE);
    y_RH = experts_.forward(received.tokens_RH, received.probs_R, exchange->rows_per_local_expert());
  }
  return combine(exchange, y_RH);
}

}  // namespace rematch::nn
