#include "runtime/nn/fused_attention.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <limits>

#include "runtime/nn/kernel.h"
#include "runtime/nn/save.h"

namespace rematch::nn {

namespace {

constexpr std::int64_t kQueryBlock = 128;

// [B, N, S, D] as [B * N, S, D] in fp32
at::Tensor heads(const at::Tensor& x_BNSD) { return x_BNSD.reshape({-1, x_BNSD.size(2), x_BNSD.size(3)}).to(at::kFloat); }

// o [T, N * V], sequence-major, as [B * N, S, V] in fp32
at::Tensor heads_of_output(const at::Tensor& o_TD, const at::Tensor& v_BNSV) {
  const auto batch = v_BNSV.size(0), num_heads = v_BNSV.size(1), length = v_BNSV.size(2), width = v_BNSV.size(3);
  return o_TD.view({length, batch, num_heads, width}).permute({1, 2, 0, 3}).reshape({-1, length, width}).to(at::kFloat);
}

// One block of queries [first, first + count) against the keys that a causal mask lets them see: [0, first + count).
struct QueryBlock {
  std::int64_t first;
  std::int64_t count;
  std::int64_t num_keys() const { return first + count; }
};

at::Tensor block_scores(const at::Tensor& q, const at::Tensor& k, QueryBlock block, double scale) {
  auto scores = at::bmm(q.narrow(1, block.first, block.count), k.narrow(1, 0, block.num_keys()).transpose(1, 2)).mul_(scale);
  const auto hidden = at::ones({block.count, block.count}, scores.options()).triu(1).to(at::kBool);
  scores.narrow(2, block.first, block.count).masked_fill_(hidden, -std::numeric_limits<float>::infinity());
  return scores;
}

template <typename Body>
void for_each_query_block(std::int64_t length, const Body& body) {
  for (std::int64_t first = 0; first < length; first += kQueryBlock) body(QueryBlock{first, std::min(kQueryBlock, length - first)});
}

class FusedAttentionFunction : public torch::autograd::Function<FusedAttentionFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& q_BNSE, const at::Tensor& k_BNSE,
                            const at::Tensor& v_BNSV, double scale) {
    const auto batch = v_BNSV.size(0), num_heads = v_BNSV.size(1), length = v_BNSV.size(2), width = v_BNSV.size(3);
    auto o_TD = at::empty({length * batch, num_heads * width}, v_BNSV.options());
    auto lse_HS = at::empty({batch * num_heads, length}, v_BNSV.options().dtype(at::kFloat));
    kernel(o_TD, [&] {
      const auto q = heads(q_BNSE), k = heads(k_BNSE), v = heads(v_BNSV);
      auto o = at::empty_like(v);
      for_each_query_block(length, [&](QueryBlock block) {
        auto scores = block_scores(q, k, block, scale);
        const auto lse = at::logsumexp(scores, {2}, /*keepdim=*/true);
        lse_HS.narrow(1, block.first, block.count).copy_(lse.squeeze(2));
        o.narrow(1, block.first, block.count).copy_(at::bmm(scores.sub_(lse).exp_(), v.narrow(1, 0, block.num_keys())));
      });
      o_TD.view({length, batch, num_heads, width}).copy_(o.view({batch, num_heads, length, width}).permute({2, 0, 1, 3}));
    });
    save(ctx, "fused_attention", {{"q", q_BNSE}, {"k", k_BNSE}, {"v", v_BNSV}, {"o", o_TD}, {"lse", lse_HS}});
    ctx->saved_data["scale"] = scale;
    return o_TD;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    auto dq_BNSE = at::empty_like(saved[0]);
    auto dk_BNSE = at::empty_like(saved[1]);
    auto dv_BNSV = at::empty_like(saved[2]);
    kernel(dq_BNSE, [&] {
      const double scale = ctx->saved_data["scale"].toDouble();
      const auto q = heads(saved[0]), k = heads(saved[1]), v = heads(saved[2]);
      const auto output_grad = heads_of_output(grads[0], saved[2]);
      const auto row_sums = (heads_of_output(saved[3], saved[2]) * output_grad).sum(2, /*keepdim=*/true);
      auto dq = at::empty_like(q), dk = at::zeros_like(k), dv = at::zeros_like(v);
      for_each_query_block(q.size(1), [&](QueryBlock block) {
        const auto rows = [&](const at::Tensor& x) { return x.narrow(1, block.first, block.count); };
        const auto keys = [&](const at::Tensor& x) { return x.narrow(1, 0, block.num_keys()); };
        const auto probs = block_scores(q, k, block, scale).sub_(rows(saved[4]).unsqueeze(2)).exp_();
        keys(dv).add_(at::bmm(probs.transpose(1, 2), rows(output_grad)));
        const auto dscores = at::bmm(rows(output_grad), keys(v).transpose(1, 2)).sub_(rows(row_sums)).mul_(probs).mul_(scale);
        rows(dq).copy_(at::bmm(dscores, keys(k)));
        keys(dk).add_(at::bmm(dscores.transpose(1, 2), rows(q)));
      });
      dq_BNSE.copy_(dq.view(dq_BNSE.sizes()));
      dk_BNSE.copy_(dk.view(dk_BNSE.sizes()));
      dv_BNSV.copy_(dv.view(dv_BNSV.sizes()));
    });
    return {dq_BNSE, dk_BNSE, dv_BNSV, at::Tensor()};
  }
};

}  // namespace

at::Tensor fused_causal_attention(const at::Tensor& q_BNSE, const at::Tensor& k_BNSE, const at::Tensor& v_BNSV, double scale) {
  return FusedAttentionFunction::apply(q_BNSE, k_BNSE, v_BNSV, scale);
}

}  // namespace rematch::nn
