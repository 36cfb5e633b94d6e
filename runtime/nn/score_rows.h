// Rows of causal attention scores in place, one pass each where a chain of operators would make several over a buffer that leaves the
// cache. Plain arrays of fp32; a caller spreads the rows over threads.
#pragma once

#include <algorithm>
#include <cstddef>

namespace rematch::nn {

// Rows [first, last) of a [num_matrices * num_queries, num_keys] buffer. Row r belongs to query first_query + r % num_queries, which sees
// that many keys and one more, its own where that is among these: the rest of the row is hidden.
struct CausalRows {
  std::size_t first, last;
  std::size_t num_queries, num_keys, first_query;
  float scale;

  std::size_t num_seen(std::size_t row) const { return std::min(num_keys, first_query + row % num_queries + 1); }
};

// scores -> probabilities; log_sums gets one value a row.
void softmax_rows(float* scores, float* log_sums, const CausalRows& rows);
// scores -> the same probabilities, from log_sums.
void probability_rows(float* scores, const float* log_sums, const CausalRows& rows);
// Gradients of the probabilities -> of the unscaled scores. row_sums: over keys, of probability times its gradient.
void score_grad_rows(float* grads, const float* probs, const float* row_sums, const CausalRows& rows);

}  // namespace rematch::nn
