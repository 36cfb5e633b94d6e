#include "runtime/nn/fused_attention.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>

#include "runtime/nn/attention_scores.h"
#include "runtime/nn/heads.h"
#include "runtime/nn/kernel.h"
#include "runtime/nn/save.h"
#include "runtime/random/generators.h"

namespace rematch::nn {

namespace {

constexpr std::int64_t kQueryBlock = 128;

// [B, G, S, D] as [B * G, S, D], in the type that is computed in
at::Tensor key_heads(const at::Tensor& x_BGSD) { return x_BGSD.flatten(0, 1).to(math_type(x_BGSD)); }

// [B, N, S, D] as [B * G, R, S, D]: the R = N / G query heads that share a key-value head
at::Tensor query_heads(const at::Tensor& x_BNSD, std::int64_t num_groups) {
  return x_BNSD.reshape({x_BNSD.size(0) * num_groups, -1, x_BNSD.size(2), x_BNSD.size(3)}).to(math_type(x_BNSD));
}

template <typename Body>
void for_each_query_block(std::int64_t length, const Body& body) {
  for (std::int64_t first = 0; first < length; first += kQueryBlock) body(QueryBlock{first, std::min(kQueryBlock, length - first)});
}

// [Z, R, m, k] x [Z, k, n] -> [Z, R, m, n]: heads of a group multiply the same matrix, so their rows go in one product.
at::Tensor group_product(const at::Tensor& a_ZRmk, const at::Tensor& b_Zkn) {
  return at::bmm(a_ZRmk.flatten(1, 2), b_Zkn).unflatten(1, {a_ZRmk.size(1), a_ZRmk.size(2)});
}

// [Z, R, m, k]^T x [Z, R, m, n] -> [Z, k, n], summed over the heads of a group.
at::Tensor sum_over_group(const at::Tensor& a_ZRmk, const at::Tensor& b_ZRmn) {
  return at::bmm(a_ZRmk.flatten(1, 2).transpose(1, 2), b_ZRmn.flatten(1, 2));
}

// Before scaling and the causal mask.
at::Tensor block_scores(const at::Tensor& q, const at::Tensor& k, QueryBlock block) {
  return group_product(block.rows(q), block.keys(k).transpose(1, 2));
}

// 0 where a probability is dropped, 1 / (1 - p) where it is kept: the next draw, so blocks come in the same order in forward and backward.
at::Tensor draw_keep_factors(const at::Tensor& probs, double dropout) {
  return at::empty(probs.sizes(), probs.options()).bernoulli_(1 - dropout).div_(1 - dropout);
}

struct AttentionGrads {
  at::Tensor dq, dk, dv;
};

// One block's part of the gradients. `row_sums`: of o * do, which with dropout too is the sum over keys of probability times its gradient.
struct BlockBackward {
  const at::Tensor &q, &k, &v, &output_grad, &lse, &row_sums;
  double scale, dropout;

  void add(QueryBlock block, AttentionGrads& grads) const {
    auto probs = block_scores(q, k, block);
    probabilities_of(probs, block.rows(lse), block, scale);
    auto dprobs = group_product(block.rows(output_grad), block.keys(v).transpose(1, 2));
    auto used_probs = probs;
    if (dropout > 0) {
      const auto factors = draw_keep_factors(probs, dropout);
      used_probs = probs * factors;
      dprobs.mul_(factors);
    }
    block.keys(grads.dv).add_(sum_over_group(used_probs, block.rows(output_grad)));
    score_grads_of(dprobs, probs, block.rows(row_sums), block, scale);
    block.rows(grads.dq).copy_(group_product(dprobs, block.keys(k)));
    block.keys(grads.dk).add_(sum_over_group(dprobs, block.rows(q)));
  }
};

class FusedAttentionFunction : public torch::autograd::Function<FusedAttentionFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& q_BNSE, const at::Tensor& k_BGSE,
                            const at::Tensor& v_BGSV, double scale, double dropout) {
    const auto batch = q_BNSE.size(0), num_heads = q_BNSE.size(1), length = q_BNSE.size(2), width = v_BGSV.size(3);
    auto o_TD = at::empty({length * batch, num_heads * width}, v_BGSV.options());
    auto lse_BNS1 = at::empty({batch, num_heads, length, 1}, v_BGSV.options().dtype(math_type(v_BGSV)));
    if (dropout > 0) ctx->saved_data["random_state"] = random::read_generator(q_BNSE.device());
    kernel(o_TD, [&] {
      const auto q = query_heads(q_BNSE, k_BGSE.size(1)), k = key_heads(k_BGSE), v = key_heads(v_BGSV);
      auto lse = lse_BNS1.view({q.size(0), q.size(1), length, 1});
      auto o = at::empty({q.size(0), q.size(1), length, width}, q.options());
      for_each_query_block(length, [&](QueryBlock block) {
        auto probs = block_scores(q, k, block);
        block.rows(lse).copy_(softmax_scores(probs, block, scale));
        if (dropout > 0) probs.mul_(draw_keep_factors(probs, dropout));
        block.rows(o).copy_(group_product(probs, block.keys(v)));
      });
      o_TD.view({length, batch, num_heads, width}).copy_(tokens_first(o.view({batch, num_heads, length, width})));
    });
    save(ctx, "fused_attention", {{"q", q_BNSE}, {"k", k_BGSE}, {"v", v_BGSV}, {"o", o_TD}, {"lse", lse_BNS1}});
    ctx->saved_data["scale"] = scale;
    ctx->saved_data["dropout"] = dropout;
    return o_TD;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto &q_BNSE = saved[0], &k_BGSE = saved[1], &v_BGSV = saved[2];
    auto dq_BNSE = at::empty_like(q_BNSE);
    auto dk_BGSE = at::empty_like(k_BGSE);
    auto dv_BGSV = at::empty_like(v_BGSV);
    kernel(dq_BNSE, [&] {
      const double scale = ctx->saved_data["scale"].toDouble(), dropout = ctx->saved_data["dropout"].toDouble();
      const auto num_groups = k_BGSE.size(1), length = q_BNSE.size(2);
      const auto from_output = [&](const at::Tensor& x_TD) {
        return query_heads(heads_first(x_TD.view({length, q_BNSE.size(0), q_BNSE.size(1), -1})), num_groups);
      };
      const auto q = query_heads(q_BNSE, num_groups), k = key_heads(k_BGSE), v = key_heads(v_BGSV);
      const auto output_grad = from_output(grads[0]);
      const auto row_sums = (from_output(saved[3]) * output_grad).sum(3, /*keepdim=*/true);
      const auto lse = saved[4].view({q.size(0), q.size(1), length, 1});
      std::optional<random::GeneratorScope> same_draws;
      if (dropout > 0) same_draws.emplace(q_BNSE.device(), ctx->saved_data["random_state"].toTensor());
      AttentionGrads sums{at::empty_like(q), at::zeros_like(k), at::zeros_like(v)};
      const BlockBackward one_block{q, k, v, output_grad, lse, row_sums, scale, dropout};
      for_each_query_block(length, [&](QueryBlock block) { one_block.add(block, sums); });
      dq_BNSE.copy_(sums.dq.view(dq_BNSE.sizes()));
      dk_BGSE.copy_(sums.dk.view(dk_BGSE.sizes()));
      dv_BGSV.copy_(sums.dv.view(dv_BGSV.sizes()));
    });
    return {dq_BNSE, dk_BGSE, dv_BGSV, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor fused_causal_attention(const at::Tensor& q_BNSE, const at::Tensor& k_BGSE, const at::Tensor& v_BGSV, double scale,
                                  double dropout) {
  return FusedAttentionFunction::apply(q_BNSE, k_BGSE, v_BGSV, scale, dropout);
}

}  // namespace rematch::nn
