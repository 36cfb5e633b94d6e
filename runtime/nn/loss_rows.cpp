#include "runtime/nn/loss_rows.h"

#include <cmath>
#include <limits>

namespace rematch::nn {

namespace {

// Inlined, so that they are compiled for the instructions of the kernels below.
template <typename Rows>
[[gnu::always_inline]] inline bool has_label(const Rows& tensors, std::size_t row) {
  return tensors.labels[row] >= 0 && static_cast<std::size_t>(tensors.labels[row]) < tensors.num_classes;
}

[[gnu::always_inline]] inline float exponential_of(simd::Bf16 logit, float highest) { return simd::exp_of(simd::raised(logit) - highest); }

[[gnu::always_inline]] inline RowStats start_row(const LossRows& tensors, std::size_t row) {
  const auto num_classes = tensors.num_classes;
  const simd::Bf16* const logits = tensors.logits + row * num_classes;
  const float highest =
      simd::lane_max(num_classes, -std::numeric_limits<float>::infinity(), [logits](std::size_t i) { return simd::raised(logits[i]); });
  float sum = 0;
  if (tensors.dlogits != nullptr) {
    float* const dlogits = tensors.dlogits + row * num_classes;
    sum = simd::lane_sum(num_classes, [=](std::size_t i) { return dlogits[i] = exponential_of(logits[i], highest); });
  } else {
    sum = simd::lane_sum(num_classes, [=](std::size_t i) { return exponential_of(logits[i], highest); });
  }
  return {highest, sum, has_label(tensors, row) ? simd::raised(logits[tensors.labels[row]]) : 0.0F};
}

// `factor`: from this row's exponentials to its gradient, less the label.
[[gnu::always_inline]] inline void finish_row(const LossRows& tensors, std::size_t row, float factor) {
  float* const dlogits = tensors.dlogits + row * tensors.num_classes;
  for (std::size_t i = 0; i < tensors.num_classes; ++i) dlogits[i] *= factor;
  if (has_label(tensors, row)) dlogits[tensors.labels[row]] -= tensors.weight;
}

// A call of its own: `product` arrives rounded, where one expression might be contracted to a single rounding.
[[gnu::noinline]] float less(float product, float weight) { return product - weight; }

}  // namespace

REMATCH_SIMD void cross_entropy_rows(const LossRows& tensors, std::size_t first, std::size_t last) {
  for (std::size_t row = first; row < last; ++row) {
    const auto stats = start_row(tensors, row);
    tensors.losses[row] = stats.highest + std::log(stats.sum) - stats.label;
    const float factor = tensors.weight / stats.sum;
    if (tensors.dlogits != nullptr) finish_row(tensors, row, factor);
    if (tensors.scales != nullptr) tensors.scales[row] = {stats.highest, factor};
  }
}

REMATCH_SIMD void local_loss_rows(const LossRows& tensors, RowStats* stats, std::size_t first, std::size_t last) {
  for (std::size_t row = first; row < last; ++row) stats[row] = start_row(tensors, row);
}

REMATCH_SIMD void write_grad_rows(const GradRows& tensors, std::size_t first, std::size_t last) {
  for (std::size_t row = first; row < last; ++row) {
    simd::Bf16* const logits = tensors.logits + row * tensors.num_classes;
    const auto [highest, factor] = tensors.scales[row];
    simd::Bf16* const label = has_label(tensors, row) ? logits + tensors.labels[row] : nullptr;
    const float of_label = label != nullptr ? exponential_of(*label, highest) : 0;
    for (std::size_t i = 0; i < tensors.num_classes; ++i)
      logits[i] = simd::lowered(exponential_of(logits[i], highest) * factor * tensors.loss_grad);
    if (label != nullptr) *label = simd::lowered(less(of_label * factor, tensors.weight) * tensors.loss_grad);
  }
}

}  // namespace rematch::nn
