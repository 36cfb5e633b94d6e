#include "runtime/nn/attention_tiles.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "runtime/nn/attention_scores.h"
#include "runtime/nn/kernel.h"

namespace rematch::nn {

namespace {

constexpr std::int64_t kQueryBlock = 128;

// [B, N, L, D] as [B * G, R, L, D]: the R = N / G query heads that share a key-value head
at::Tensor query_heads(const at::Tensor& x_BNLD, std::int64_t num_groups) {
  return x_BNLD.reshape({x_BNLD.size(0) * num_groups, -1, x_BNLD.size(2), x_BNLD.size(3)}).to(math_type(x_BNLD));
}

// The same as a view, to write to.
at::Tensor query_heads_of(const at::Tensor& x_BNLD, std::int64_t num_groups) {
  return x_BNLD.view({x_BNLD.size(0) * num_groups, -1, x_BNLD.size(2), x_BNLD.size(3)});
}

// body(block, span, tokens, is_first) for every block of queries and every run of keys that it sees a part of. The keys of `tokens` are
// rows of member `span`'s share. is_first: no run came before for these queries.
template <typename Body>
void for_each_tile(const KeyShare& keys, ContextPlace place, std::int64_t num_local, const Body& body) {
  for (const auto& queries : token_runs(place, num_local))
    for (std::int64_t done = 0; done < queries.count; done += kQueryBlock) {
      const auto count = std::min(kQueryBlock, queries.count - done);
      bool is_first = keys.is_first;
      for (std::size_t member = 0; member < keys.members.size(); ++member)
        for (const auto& run : token_runs({keys.members[member], place.size}, num_local)) {
          const auto offset = queries.first + done - run.first;
          if (offset < 0) continue;
          const QueryBlock block{queries.row + done, count, offset, std::min(run.count, offset + count)};
          body(block, static_cast<std::int64_t>(member), run, is_first);
          is_first = false;
        }
    }
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

// 0 where a probability is dropped, 1 / (1 - p) where it is kept: the next draw.
at::Tensor draw_keep_factors(const at::Tensor& probs, double dropout) {
  return at::empty(probs.sizes(), probs.options()).bernoulli_(1 - dropout).div_(1 - dropout);
}

// sums over other keys before + those of a tile = sums over both
void merge(const at::Tensor& o, const at::Tensor& lse, const at::Tensor& tile_o, const at::Tensor& tile_lse) {
  const auto both = at::logaddexp(lse, tile_lse);
  o.mul_((lse - both).exp_()).add_(tile_o.mul((tile_lse - both).exp_()));
  lse.copy_(both);
}

// Keys, values and their gradients [Z, L, D] of one member, from [M, B, G, L, D].
at::Tensor member_heads(const at::Tensor& x_MBGLD, std::int64_t member) { return x_MBGLD.select(0, member).flatten(0, 1); }

at::Tensor in_math_type(const at::Tensor& x) { return x.to(math_type(x)); }

// A tile's part of the gradients; all tensors in heads of groups, keys and their gradients from the run's first key on. `row_sums`: of
// o * do, which with dropout too is the sum over keys of probability times its gradient.
struct TileBackward {
  const at::Tensor &q, &output_grad, &lse, &row_sums;
  const TileMaths& maths;

  struct Keys {
    at::Tensor k, v, dk, dv;
  };

  void add(QueryBlock block, const Keys& run, const at::Tensor& dq, bool is_first) const {
    auto probs = block_scores(q, run.k, block);
    probabilities_of(probs, block.rows(lse), block, maths.scale);
    auto dprobs = group_product(block.rows(output_grad), block.keys(run.v).transpose(1, 2));
    auto used_probs = probs;
    if (maths.dropout > 0) {
      const auto factors = draw_keep_factors(probs, maths.dropout);
      used_probs = probs * factors;
      dprobs.mul_(factors);
    }
    block.keys(run.dv).add_(sum_over_group(used_probs, block.rows(output_grad)));
    score_grads_of(dprobs, probs, block.rows(row_sums), block, maths.scale);
    const auto query_grads = group_product(dprobs, block.keys(run.k));
    if (is_first)
      block.rows(dq).copy_(query_grads);
    else
      block.rows(dq).add_(query_grads);
    block.keys(run.dk).add_(sum_over_group(dprobs, block.rows(q)));
  }
};

// Products of one query with one key, over all sequences and heads.
std::int64_t num_scores(const at::Tensor& q_BNLE, const KeyShare& keys, ContextPlace place) {
  std::int64_t num_pairs = 0;
  for_each_tile(keys, place, q_BNLE.size(2),
                [&](QueryBlock block, std::int64_t, const TokenRun&, bool) { num_pairs += block.count * block.num_keys; });
  return q_BNLE.size(0) * q_BNLE.size(1) * num_pairs;
}

}  // namespace

std::int64_t attend_flops(const at::Tensor& q_BNLE, const KeyShare& keys, ContextPlace place) {
  return 2 * num_scores(q_BNLE, keys, place) * (q_BNLE.size(3) + keys.v_MBGLV.size(4));
}

std::int64_t attend_backward_flops(const at::Tensor& q_BNLE, const KeyShare& keys, ContextPlace place) {
  return 2 * num_scores(q_BNLE, keys, place) * (3 * q_BNLE.size(3) + 2 * keys.v_MBGLV.size(4));
}

void attend(const at::Tensor& q_BNLE, const KeyShare& keys, const TileMaths& maths, const PartialOutput& sums) {
  const auto num_groups = keys.k_MBGLE.size(2);
  const auto q = query_heads(q_BNLE, num_groups);
  const auto all_k = in_math_type(keys.k_MBGLE), all_v = in_math_type(keys.v_MBGLV);
  const auto o = query_heads_of(sums.o_BNLV, num_groups), lse = query_heads_of(sums.lse_BNL1, num_groups);
  for_each_tile(keys, maths.place, q.size(2), [&](QueryBlock block, std::int64_t member, const TokenRun& run, bool is_first) {
    const auto k = member_heads(all_k, member).narrow(1, run.row, run.count);
    const auto v = member_heads(all_v, member).narrow(1, run.row, run.count);
    auto probs = block_scores(q, k, block);
    const auto tile_lse = softmax_scores(probs, block, maths.scale);
    if (maths.dropout > 0) probs.mul_(draw_keep_factors(probs, maths.dropout));
    const auto tile_o = group_product(probs, block.keys(v));
    if (!is_first) return merge(block.rows(o), block.rows(lse), tile_o, tile_lse);
    block.rows(lse).copy_(tile_lse);
    block.rows(o).copy_(tile_o);
  });
}

void attend_backward(const at::Tensor& q_BNLE, const KeyShare& keys, const OutputGrads& output, const TileMaths& maths,
                     const AttentionGrads& grads) {
  const auto num_groups = keys.k_MBGLE.size(2);
  const auto q = query_heads(q_BNLE, num_groups), output_grad = query_heads(output.do_BNLV, num_groups);
  const auto all_k = in_math_type(keys.k_MBGLE), all_v = in_math_type(keys.v_MBGLV);
  const auto row_sums = (query_heads(output.o_BNLV, num_groups) * output_grad).sum(3, /*keepdim=*/true);
  const auto lse = query_heads_of(output.lse_BNL1, num_groups), dq = query_heads_of(grads.dq_BNLE, num_groups);
  const TileBackward one_tile{q, output_grad, lse, row_sums, maths};
  for_each_tile(keys, maths.place, q.size(2), [&](QueryBlock block, std::int64_t member, const TokenRun& run, bool is_first) {
    const auto of_run = [&](const at::Tensor& x_MBGLD) { return member_heads(x_MBGLD, member).narrow(1, run.row, run.count); };
    one_tile.add(block, {of_run(all_k), of_run(all_v), of_run(grads.dk_MBGLE), of_run(grads.dv_MBGLV)}, dq, is_first);
  });
}

}  // namespace rematch::nn
