// What fused attention does with the scores of one block of queries against one run of keys, in place, under a causal mask. Called inside
// kernel bodies. Shapes: Z key-value heads of all sequences, R query heads that share one, S tokens, D width.
#pragma once

#include <ATen/ATen.h>

namespace rematch::nn {

// Queries that follow each other, rows [row, row + count), against the first num_keys keys of a run, of which a causal mask lets them see:
// query i of the block is `offset` + i positions behind the run's first key, and sees that many keys and one more, if there are so many.
// Either all queries see all of these keys (offset >= num_keys), or the last `count` keys are the queries' own positions.
struct QueryBlock {
  std::int64_t row;
  std::int64_t count;
  std::int64_t offset;
  std::int64_t num_keys;

  bool is_diagonal() const { return offset < num_keys; }
  at::Tensor rows(const at::Tensor& x_ZRSD) const { return x_ZRSD.narrow(2, row, count); }
  at::Tensor keys(const at::Tensor& x_ZSD) const { return x_ZSD.narrow(1, 0, num_keys); }
};

// scores [Z, R, count, keys], not yet scaled -> probabilities. Returns the log-sum-exp of each row, [Z, R, count, 1].
at::Tensor softmax_scores(at::Tensor& scores, QueryBlock block, double scale);
// scores -> the same probabilities, from the log-sum-exp.
void probabilities_of(at::Tensor& scores, const at::Tensor& log_sums, QueryBlock block, double scale);
// Gradients of the probabilities -> of the scores before scaling. row_sums [Z, R, count, 1]: over keys, of probability times its gradient.
void score_grads_of(at::Tensor& grads, const at::Tensor& probs, const at::Tensor& row_sums, QueryBlock block, double scale);

}  // namespace rematch::nn
