#include "runtime/nn/score_rows.h"

#include <cmath>
#include <limits>

#include "runtime/nn/simd.h"

namespace rematch::nn {

REMATCH_SIMD void softmax_rows(float* scores, float* log_sums, const CausalRows& rows) {
  for (std::size_t row = rows.first; row < rows.last; ++row) {
    float* const score = scores + row * rows.num_keys;
    const auto num_seen = rows.num_seen(row);
    const float scale = rows.scale;
    const float highest =
        scale * simd::lane_max(num_seen, -std::numeric_limits<float>::infinity(), [&](std::size_t i) { return score[i]; });
    const float sum = simd::lane_sum(num_seen, [&](std::size_t i) { return score[i] = simd::exp_of(score[i] * scale - highest); });
    const float factor = 1 / sum;
    for (std::size_t i = 0; i < num_seen; ++i) score[i] *= factor;
    for (std::size_t i = num_seen; i < rows.num_keys; ++i) score[i] = 0;
    log_sums[row] = highest + std::log(sum);
  }
}

REMATCH_SIMD void probability_rows(float* scores, const float* log_sums, const CausalRows& rows) {
  for (std::size_t row = rows.first; row < rows.last; ++row) {
    float* const score = scores + row * rows.num_keys;
    const auto num_seen = rows.num_seen(row);
    const float scale = rows.scale, log_sum = log_sums[row];
    for (std::size_t i = 0; i < num_seen; ++i) score[i] = simd::exp_of(score[i] * scale - log_sum);
    for (std::size_t i = num_seen; i < rows.num_keys; ++i) score[i] = 0;
  }
}

REMATCH_SIMD void score_grad_rows(float* grads, const float* probs, const float* row_sums, const CausalRows& rows) {
  for (std::size_t row = rows.first; row < rows.last; ++row) {
    float* const grad = grads + row * rows.num_keys;
    const float* const prob = probs + row * rows.num_keys;
    const float scale = rows.scale, row_sum = row_sums[row];
    for (std::size_t i = 0; i < rows.num_keys; ++i) grad[i] = (grad[i] - row_sum) * prob[i] * scale;
  }
}

}  // namespace rematch::nn
