#include "runtime/nn/unfused_attention.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <limits>

#include "runtime/nn/dropout.h"
#include "runtime/nn/gemm.h"
#include "runtime/nn/heads.h"
#include "runtime/nn/kernel.h"
#include "runtime/nn/save.h"

namespace rematch::nn {

namespace {

// Each key-value head once for every query head that it serves, in the query heads' order. Keeps nothing.
class RepeatHeadsFunction : public torch::autograd::Function<RepeatHeadsFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x_BGSD, std::int64_t num_heads) {
    const auto num_groups = x_BGSD.size(1);
    auto y_BNSD = at::empty({x_BGSD.size(0), num_heads, x_BGSD.size(2), x_BGSD.size(3)}, x_BGSD.options());
    kernel({y_BNSD, x_BGSD}, [&] { y_BNSD.unflatten(1, {num_groups, -1}).copy_(x_BGSD.unsqueeze(2)); });
    ctx->saved_data["num_groups"] = num_groups;
    return y_BNSD;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto& dy_BNSD = grads[0];
    const auto num_groups = ctx->saved_data["num_groups"].toInt();
    auto dx_BGSD = at::empty({dy_BNSD.size(0), num_groups, dy_BNSD.size(2), dy_BNSD.size(3)}, dy_BNSD.options());
    kernel({dx_BGSD, dy_BNSD}, [&] { dx_BGSD.copy_(dy_BNSD.to(math_type(dy_BNSD)).unflatten(1, {num_groups, -1}).sum(2)); });
    return {dx_BGSD, at::Tensor()};
  }
};

class ScoresFunction : public torch::autograd::Function<ScoresFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& q_BNSE, const at::Tensor& k_BNSE, double scale) {
    save(ctx, "unfused_attention", {{"q", q_BNSE}, {"k", k_BNSE}});
    ctx->saved_data["scale"] = scale;
    return batched_gemm(q_BNSE, k_BNSE.transpose(2, 3), scale);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const double scale = ctx->saved_data["scale"].toDouble();
    const auto& dscores_BNSS = grads[0];
    return {batched_gemm(dscores_BNSS, saved[1], scale), batched_gemm(dscores_BNSS.transpose(2, 3), saved[0], scale), at::Tensor()};
  }
};

class CausalSoftmaxFunction : public torch::autograd::Function<CausalSoftmaxFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& scores_BNSS) {
    const auto wide = scores_BNSS.options().dtype(math_type(scores_BNSS));
    auto masked_BNSS = at::empty(scores_BNSS.sizes(), wide);
    auto softmax_BNSS = at::empty(scores_BNSS.sizes(), wide);
    auto probs_BNSS = at::empty(scores_BNSS.sizes(), scores_BNSS.options());
    kernel({probs_BNSS, softmax_BNSS, masked_BNSS, scores_BNSS}, [&] {
      const auto length = scores_BNSS.size(3);
      const auto hidden_SS = at::ones({length, length}, scores_BNSS.options().dtype(at::kBool)).triu_(1);
      masked_BNSS.copy_(scores_BNSS).masked_fill_(hidden_SS, -std::numeric_limits<float>::infinity());
      at::_softmax_out(softmax_BNSS, masked_BNSS, 3, /*half_to_float=*/false);
      probs_BNSS.copy_(softmax_BNSS);
    });
    save(ctx, "unfused_attention", {{"softmax", softmax_BNSS}});
    return probs_BNSS;
  }

  // Alive beside the incoming gradient: the gradient in fp32 and its rounding.
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto softmax_BNSS = ctx->get_saved_variables()[0];
    auto wide_BNSS = at::empty(softmax_BNSS.sizes(), softmax_BNSS.options());
    auto dscores_BNSS = at::empty(softmax_BNSS.sizes(), grads[0].options());
    kernel({dscores_BNSS, wide_BNSS, softmax_BNSS, grads[0]}, [&] {
      wide_BNSS.copy_(grads[0]).mul_(softmax_BNSS);
      wide_BNSS.sub_(softmax_BNSS * wide_BNSS.sum(3, /*keepdim=*/true));
      dscores_BNSS.copy_(wide_BNSS);
    });
    return {dscores_BNSS};
  }
};

class WeightedValuesFunction : public torch::autograd::Function<WeightedValuesFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& probs_BNSS, const at::Tensor& v_BNSV) {
    save(ctx, "unfused_attention", {{"probs", probs_BNSS}, {"v", v_BNSV}});
    const auto batch = v_BNSV.size(0), num_heads = v_BNSV.size(1), length = v_BNSV.size(2);
    const auto o_BNSV = batched_gemm(probs_BNSS, v_BNSV);
    auto o_TD = at::empty({length * batch, num_heads * v_BNSV.size(3)}, v_BNSV.options());
    kernel({o_TD, o_BNSV}, [&] { o_TD.view({length, batch, num_heads, -1}).copy_(tokens_first(o_BNSV)); });
    return o_TD;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto &probs_BNSS = saved[0], &v_BNSV = saved[1];
    auto do_BNSV = at::empty(v_BNSV.sizes(), v_BNSV.options());
    kernel({do_BNSV, grads[0]}, [&] { do_BNSV.copy_(heads_first(grads[0].view({v_BNSV.size(2), v_BNSV.size(0), v_BNSV.size(1), -1}))); });
    return {batched_gemm(do_BNSV, v_BNSV.transpose(2, 3)), batched_gemm(probs_BNSS.transpose(2, 3), do_BNSV)};
  }
};

at::Tensor repeat_heads(const at::Tensor& x_BGSD, std::int64_t num_heads) {
  return x_BGSD.size(1) == num_heads ? x_BGSD : RepeatHeadsFunction::apply(x_BGSD, num_heads);
}

at::Tensor probabilities(const at::Tensor& q_BNSE, const at::Tensor& k_BNSE, double scale) {
  return CausalSoftmaxFunction::apply(ScoresFunction::apply(q_BNSE, k_BNSE, scale));
}

}  // namespace

at::Tensor unfused_causal_attention(const at::Tensor& q_BNSE, const at::Tensor& k_BGSE, const at::Tensor& v_BGSV, double scale,
                                    double dropout) {
  const auto num_heads = q_BNSE.size(1);
  const auto k_BNSE = repeat_heads(k_BGSE, num_heads), v_BNSV = repeat_heads(v_BGSV, num_heads);
  auto probs_BNSS = probabilities(q_BNSE, k_BNSE, scale);
  probs_BNSS = dropout_layer(probs_BNSS, dropout);  // lets those before dropout go
  return WeightedValuesFunction::apply(probs_BNSS, v_BNSV);
}

}  // namespace rematch::nn
