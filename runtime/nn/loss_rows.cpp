#include "runtime/nn/loss_rows.h"

#include <cmath>
#include <limits>

namespace rematch::nn {

REMATCH_SIMD void cross_entropy_rows(const LossRows& tensors, std::size_t first, std::size_t last) {
  const auto num_classes = tensors.num_classes;
  for (std::size_t row = first; row < last; ++row) {
    const simd::Bf16* const logits = tensors.logits + row * num_classes;
    float* const dlogits = tensors.dlogits + row * num_classes;
    const auto label = static_cast<std::size_t>(tensors.labels[row]);
    const float highest =
        simd::lane_max(num_classes, -std::numeric_limits<float>::infinity(), [logits](std::size_t i) { return simd::raised(logits[i]); });
    const auto exponential = [=](std::size_t i) { return dlogits[i] = simd::exp_of(simd::raised(logits[i]) - highest); };
    const float sum = simd::lane_sum(num_classes, exponential);
    tensors.losses[row] = highest + std::log(sum) - simd::raised(logits[label]);
    const float factor = tensors.weight / sum;
    for (std::size_t i = 0; i < num_classes; ++i) dlogits[i] *= factor;
    dlogits[label] -= tensors.weight;
  }
}

}  // namespace rematch::nn
