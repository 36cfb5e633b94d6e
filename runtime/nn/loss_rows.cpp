#include "runtime/nn/loss_rows.h"

#include <cmath>
#include <limits>

namespace rematch::nn {

namespace {

// Inlined, so that they are compiled for the instructions of the kernels below.
[[gnu::always_inline]] inline bool has_label(const LossRows& tensors, std::size_t row) {
  return tensors.labels[row] >= 0 && static_cast<std::size_t>(tensors.labels[row]) < tensors.num_classes;
}

[[gnu::always_inline]] inline RowStats start_row(const LossRows& tensors, std::size_t row) {
  const auto num_classes = tensors.num_classes;
  const simd::Bf16* const logits = tensors.logits + row * num_classes;
  float* const dlogits = tensors.dlogits + row * num_classes;
  const float highest =
      simd::lane_max(num_classes, -std::numeric_limits<float>::infinity(), [logits](std::size_t i) { return simd::raised(logits[i]); });
  const auto exponential = [=](std::size_t i) { return dlogits[i] = simd::exp_of(simd::raised(logits[i]) - highest); };
  const float sum = simd::lane_sum(num_classes, exponential);
  return {highest, sum, has_label(tensors, row) ? simd::raised(logits[tensors.labels[row]]) : 0.0F};
}

// `factor`: from this row's exponentials to its gradient, less the label.
[[gnu::always_inline]] inline void finish_row(const LossRows& tensors, std::size_t row, float factor) {
  float* const dlogits = tensors.dlogits + row * tensors.num_classes;
  for (std::size_t i = 0; i < tensors.num_classes; ++i) dlogits[i] *= factor;
  if (has_label(tensors, row)) dlogits[tensors.labels[row]] -= tensors.weight;
}

}  // namespace

REMATCH_SIMD void cross_entropy_rows(const LossRows& tensors, std::size_t first, std::size_t last) {
  for (std::size_t row = first; row < last; ++row) {
    const auto stats = start_row(tensors, row);
    tensors.losses[row] = stats.highest + std::log(stats.sum) - stats.label;
    finish_row(tensors, row, tensors.weight / stats.sum);
  }
}

REMATCH_SIMD void local_loss_rows(const LossRows& tensors, RowStats* stats, std::size_t first, std::size_t last) {
  for (std::size_t row = first; row < last; ++row) stats[row] = start_row(tensors, row);
}

}  // namespace rematch::nn
