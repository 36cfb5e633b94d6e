#include "runtime/nn/router.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <limits>
#include <tuple>

#include "runtime/base/scope.h"
#include "runtime/nn/kernel.h"
#include "runtime/nn/save.h"

namespace rematch::nn {

namespace {

constexpr double kSumFloor = 1e-20;  // as Megatron adds before dividing

struct CallHolder final : torch::CustomClassHolder {
  CallHolder(const RouterShape& shape_in, const RouterCall& call_in)
      : shape(shape_in), call(call_in), is_first(call_in.tracker.begin(call_in.sequence.micro_batch)) {}
  RouterShape shape;
  RouterCall call;
  bool is_first;  // of its micro-batch: counts and the loss are taken now

  bool balances() const { return shape.load_balancing != LoadBalancing::kNone && shape.aux_loss_coeff != 0; }
  bool is_sigmoid() const { return shape.score_function == ScoreFunction::kSigmoid; }
  std::int64_t num_groups() const { return shape.load_balancing == LoadBalancing::kSeqAuxLoss ? call.sequence.batch : 1; }
};

at::Tensor row_sums(const at::Tensor& x_TE) { return x_TE.sum(1, /*keepdim=*/true); }

// The experts of each token by these scores, of which only the order counts.
at::Tensor choose(const at::Tensor& scores_TE, const CallHolder& holder) {
  const auto num_tokens = scores_TE.size(0), topk = holder.shape.topk;
  if (holder.shape.force_load_balancing) {
    const auto first = holder.call.first_token * topk;
    return at::arange(first, first + num_tokens * topk, scores_TE.options().dtype(at::kLong))
        .remainder(holder.shape.num_experts)
        .view({num_tokens, topk});
  }
  const auto& bias_E = holder.call.tracker.expert_bias();
  return std::get<1>((bias_E.defined() ? scores_TE + bias_E : scores_TE).topk(topk, 1));
}

// Scores -> probabilities, zero where not chosen.
at::Tensor probabilities(const at::Tensor& logits_TE, const at::Tensor& scores_TE, const at::Tensor& map_TE, const RouterShape& shape) {
  at::Tensor probs_TE;
  if (shape.score_function == ScoreFunction::kSoftmax && !shape.pre_softmax) {
    probs_TE = logits_TE.masked_fill(map_TE.logical_not(), -std::numeric_limits<double>::infinity()).softmax(1);
  } else {
    probs_TE = scores_TE * map_TE;
    if (shape.score_function == ScoreFunction::kSigmoid && shape.topk > 1) probs_TE = probs_TE / (row_sums(probs_TE) + kSumFloor);
  }
  return probs_TE * shape.scaling_factor;
}

at::Tensor softmax_grad(const at::Tensor& grad_TE, const at::Tensor& softmax_TE) {
  return softmax_TE * (grad_TE - row_sums(grad_TE * softmax_TE));
}

// Gradient of x / sum(x).
at::Tensor share_grad(const at::Tensor& grad_TE, const at::Tensor& x_TE) {
  const auto sum_T1 = row_sums(x_TE) + kSumFloor;
  return grad_TE / sum_T1 - row_sums(grad_TE * x_TE) / sum_T1.square();
}

at::Tensor sigmoid_grad(const at::Tensor& grad_TE, const at::Tensor& sigmoid_TE) { return grad_TE * sigmoid_TE * (1 - sigmoid_TE); }

// Gradient of the probabilities -> gradient of the logits.
at::Tensor logit_grad(const at::Tensor& dprobs_TE, const at::Tensor& scores_TE, const at::Tensor& probs_TE, const at::Tensor& map_TE,
                      const RouterShape& shape) {
  const auto dscaled_TE = dprobs_TE * map_TE * shape.scaling_factor;
  if (shape.score_function == ScoreFunction::kSigmoid)
    return sigmoid_grad(shape.topk > 1 ? share_grad(dscaled_TE, scores_TE * map_TE) * map_TE : dscaled_TE, scores_TE);
  return softmax_grad(dscaled_TE, shape.pre_softmax ? scores_TE : probs_TE / shape.scaling_factor);
}

// [T, E] summed over the tokens that are balanced together: all of them, or each sequence by itself.
at::Tensor grouped_sums(const at::Tensor& x_TE, const CallHolder& holder) {
  if (holder.shape.load_balancing != LoadBalancing::kSeqAuxLoss) return x_TE.sum(0, /*keepdim=*/true);
  return x_TE.view({holder.call.sequence.length, holder.call.sequence.batch, -1}).sum(0);
}

// Each group's row for each of its tokens.
at::Tensor spread(const at::Tensor& weights_GE, const CallHolder& holder) {
  return weights_GE.repeat({holder.call.sequence.num_tokens() / weights_GE.size(0), 1});
}

// What the loss's gradient needs; undefined without one.
struct Balance {
  at::Tensor shares_TE;
  at::Tensor weights_GE;
};

// [2, G, E] for the tracker. The choice that counts is that by the scores alone, without an expert bias or forced turns.
at::Tensor balance_sums(const at::Tensor& shares_TE, const CallHolder& holder) {
  const base::RoleScope role(protocol::Role::kCommunication);
  const auto sums_2GE = at::empty({2, holder.num_groups(), holder.shape.num_experts}, shares_TE.options());
  kernel({sums_2GE, shares_TE}, [&] {
    const auto map_TE = at::zeros_like(shares_TE).scatter_(1, std::get<1>(shares_TE.topk(holder.shape.topk, 1)), 1.0);
    sums_2GE.select(0, 0).copy_(grouped_sums(map_TE, holder));
    sums_2GE.select(0, 1).copy_(grouped_sums(shares_TE, holder));
  });
  return sums_2GE;
}

Balance balance_loss(const at::Tensor& scores_TE, const CallHolder& holder) {
  auto& tracker = holder.call.tracker;
  Balance balance{.shares_TE = at::empty_like(scores_TE),
                  .weights_GE = at::empty({holder.num_groups(), holder.shape.num_experts}, scores_TE.options())};
  kernel({balance.shares_TE, scores_TE},
         [&] { balance.shares_TE.copy_(holder.is_sigmoid() ? scores_TE / (row_sums(scores_TE) + kSumFloor) : scores_TE); });
  if (holder.is_first) tracker.count(holder.call.sequence, balance_sums(balance.shares_TE, holder));
  kernel({balance.weights_GE}, [&] {
    const auto weights = at::tensor(tracker.loss_weights(holder.call.sequence.micro_batch), at::kDouble) * holder.shape.aux_loss_coeff;
    balance.weights_GE.copy_(weights.view_as(balance.weights_GE));
  });
  return balance;
}

class RouterFunction : public torch::autograd::Function<RouterFunction> {
 public:
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x_TH, const at::Tensor& weight_EH,
                                                const c10::intrusive_ptr<CallHolder>& holder) {
    const auto& shape = holder->shape;
    const std::vector<std::int64_t> all = {x_TH.size(0), shape.num_experts};
    const auto options = x_TH.options().dtype(math_type(x_TH));
    auto probs_TE = at::empty(all, options), scores_TE = at::empty(all, options);
    auto map_TE = at::empty(all, x_TH.options().dtype(at::kBool));
    auto experts_TK = at::empty({x_TH.size(0), shape.topk}, x_TH.options().dtype(at::kLong));
    count_products(2 * probs_TE.numel() * x_TH.size(1), {probs_TE, x_TH, weight_EH});  // the logits, as large as the probabilities
    kernel({probs_TE, scores_TE, map_TE, experts_TK, probs_TE}, [&] {
      const auto logits_TE = at::mm(x_TH.to(math_type(x_TH)), weight_EH.to(math_type(x_TH)).t());
      scores_TE.copy_(holder->is_sigmoid() ? logits_TE.sigmoid() : logits_TE.softmax(1));
      // A softmax after the choice chooses by the logits: distinct ones may round to one score.
      experts_TK.copy_(choose(holder->is_sigmoid() || shape.pre_softmax ? scores_TE : logits_TE, *holder));
      map_TE.zero_().scatter_(1, experts_TK, true);
      probs_TE.copy_(probabilities(logits_TE, scores_TE, map_TE, shape));
      if (holder->is_first) holder->call.tracker.record(map_TE.sum(0).to(at::kFloat));
    });
    const auto balance = holder->balances() ? balance_loss(scores_TE, *holder) : Balance{};
    save(ctx, "router",
         {{"x", x_TH},
          {"weight", weight_EH},
          {"scores", scores_TE},
          {"probs", probs_TE},
          {"map", map_TE},
          {"shares", balance.shares_TE},
          {"loss_weights", balance.weights_GE}});
    ctx->saved_data["call"] = c10::IValue::make_capsule(holder);
    ctx->mark_non_differentiable({experts_TK});
    return {probs_TE, experts_TK};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto &x_TH = saved[0], &weight_EH = saved[1], &scores_TE = saved[2], &probs_TE = saved[3], &map_TE = saved[4];
    const auto holder = c10::static_intrusive_pointer_cast<CallHolder>(ctx->saved_data["call"].toCapsule());
    auto dx_TH = at::empty_like(x_TH);
    auto dweight_EH = at::empty_like(weight_EH);
    const auto flops = 2 * scores_TE.numel() * x_TH.size(1);
    count_products(flops, {dx_TH, scores_TE, weight_EH});
    count_products(flops, {dweight_EH, scores_TE, x_TH});
    kernel({scores_TE, grads[0], scores_TE, probs_TE, map_TE, saved[5]}, [&] {
      auto dlogits_TE = logit_grad(grads[0], scores_TE, probs_TE, map_TE, holder->shape);
      if (holder->balances()) {
        const auto dshares_TE = spread(saved[6], *holder) * holder->call.loss_scale;
        dlogits_TE +=
            holder->is_sigmoid() ? sigmoid_grad(share_grad(dshares_TE, scores_TE), scores_TE) : softmax_grad(dshares_TE, saved[5]);
      }
      dx_TH.copy_(at::mm(dlogits_TE, weight_EH.to(dlogits_TE.scalar_type())));
      dweight_EH.copy_(at::mm(dlogits_TE.t(), x_TH.to(dlogits_TE.scalar_type())));
    });
    return {dx_TH, dweight_EH, at::Tensor()};
  }
};

}  // namespace

Routing route(const at::Tensor& x_TH, const at::Tensor& weight_EH, const RouterShape& shape, const RouterCall& call) {
  auto outputs = RouterFunction::apply(x_TH, weight_EH, c10::make_intrusive<CallHolder>(shape, call));
  return {outputs[0], outputs[1]};
}

}  // namespace rematch::nn
