#include "runtime/nn/router.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <tuple>

#include "runtime/nn/kernel.h"
#include "runtime/nn/save.h"

namespace rematch::nn {

namespace {

constexpr double kSumFloor = 1e-20;  // as Megatron's topk_softmax_with_capacity adds before dividing

struct ShapeHolder final : torch::CustomClassHolder {
  explicit ShapeHolder(const RouterShape& shape_in) : shape(shape_in) {}
  RouterShape shape;
};

// Chosen scores -> probabilities.
at::Tensor probabilities(const at::Tensor& scores_TK, const RouterShape& shape) {
  if (shape.score_function == ScoreFunction::kSoftmax) return scores_TK.softmax(1) * shape.scaling_factor;
  return scores_TK / (scores_TK.sum(1, /*keepdim=*/true) + kSumFloor) * shape.scaling_factor;
}

// Gradient of the probabilities -> gradient of the chosen logits.
at::Tensor logit_grad(const at::Tensor& dprobs_TK, const at::Tensor& scores_TK, const RouterShape& shape) {
  const auto dscaled = dprobs_TK * shape.scaling_factor;
  if (shape.score_function == ScoreFunction::kSoftmax) {
    const auto probs = scores_TK.softmax(1);
    return probs * (dscaled - (dscaled * probs).sum(1, /*keepdim=*/true));
  }
  const auto sum = scores_TK.sum(1, /*keepdim=*/true) + kSumFloor;
  const auto dscores = dscaled / sum - (dscaled * scores_TK).sum(1, /*keepdim=*/true) / sum.square();
  return dscores * scores_TK * (1 - scores_TK);
}

class RouterFunction : public torch::autograd::Function<RouterFunction> {
 public:
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x_TH, const at::Tensor& weight_EH,
                                                const c10::intrusive_ptr<ShapeHolder>& holder) {
    const auto& shape = holder->shape;
    const std::vector<std::int64_t> chosen = {x_TH.size(0), shape.topk};
    const auto fp32 = x_TH.options().dtype(at::kFloat);
    auto probs_TK = at::empty(chosen, fp32);
    auto scores_TK = at::empty(chosen, fp32);
    auto experts_TK = at::empty(chosen, x_TH.options().dtype(at::kLong));
    kernel(probs_TK, [&] {
      auto scores_TE = at::mm(x_TH.to(at::kFloat), weight_EH.to(at::kFloat).t());
      if (shape.score_function == ScoreFunction::kSigmoid) scores_TE.sigmoid_();
      const auto [scores, experts] = scores_TE.topk(shape.topk, 1);
      scores_TK.copy_(scores);
      experts_TK.copy_(experts);
      probs_TK.copy_(probabilities(scores_TK, shape));
    });
    save(ctx, "router", {{"x", x_TH}, {"weight", weight_EH}, {"scores", scores_TK}, {"experts", experts_TK}});
    ctx->saved_data["shape"] = c10::IValue::make_capsule(holder);
    ctx->mark_non_differentiable({experts_TK});
    return {probs_TK, experts_TK};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto &x_TH = saved[0], &weight_EH = saved[1], &scores_TK = saved[2], &experts_TK = saved[3];
    const auto shape = c10::static_intrusive_pointer_cast<ShapeHolder>(ctx->saved_data["shape"].toCapsule())->shape;
    auto dx_TH = at::empty_like(x_TH);
    auto dweight_EH = at::empty_like(weight_EH);
    kernel(dx_TH, [&] {
      auto dlogits_TE = at::zeros({x_TH.size(0), shape.num_experts}, scores_TK.options());
      dlogits_TE.scatter_(1, experts_TK, logit_grad(grads[0], scores_TK, shape));
      dx_TH.copy_(at::mm(dlogits_TE, weight_EH.to(at::kFloat)));
      dweight_EH.copy_(at::mm(dlogits_TE.t(), x_TH.to(at::kFloat)));
    });
    return {dx_TH, dweight_EH, at::Tensor()};
  }
};

}  // namespace

Routing route(const at::Tensor& x_TH, const at::Tensor& weight_EH, const RouterShape& shape) {
  auto outputs = RouterFunction::apply(x_TH, weight_EH, c10::make_intrusive<ShapeHolder>(shape));
  return {outputs[0], outputs[1]};
}

}  // namespace rematch::nn
