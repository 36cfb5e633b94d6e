#include "runtime/nn/swiglu_rows.h"

namespace rematch::nn {

namespace {

// The exponential of a number that is not positive is at most 1: no gate is too large.
[[gnu::always_inline]] inline float sigmoid_of(float x) {
  const float e = simd::exp_of(x < 0 ? x : -x);
  return (x < 0 ? e : 1.0F) / (1.0F + e);
}

}  // namespace

REMATCH_SIMD void swiglu_rows(simd::Bf16* a, const SwigluRows& tensors, std::size_t first, std::size_t last) {
  const auto width = tensors.width;
  for (std::size_t row = first; row < last; ++row) {
    const simd::Bf16 *const gates = tensors.h + row * 2 * width, *const ups = gates + width;
    simd::Bf16* const out = a + row * width;
    const float prob = tensors.probs == nullptr ? 1.0F : tensors.probs[row];
    for (std::size_t i = 0; i < width; ++i) {
      const float gate = simd::raised(gates[i]);
      out[i] = simd::lowered(gate * sigmoid_of(gate) * simd::raised(ups[i]) * prob);
    }
  }
}

REMATCH_SIMD void swiglu_grad_rows(simd::Bf16* dh, float* dprobs, const simd::Bf16* da, const SwigluRows& tensors, std::size_t first,
                                   std::size_t last) {
  const auto width = tensors.width;
  for (std::size_t row = first; row < last; ++row) {
    const simd::Bf16 *const gates = tensors.h + row * 2 * width, *const ups = gates + width, *const das = da + row * width;
    simd::Bf16 *const dgates = dh + row * 2 * width, *const dups = dgates + width;
    const float prob = tensors.probs == nullptr ? 1.0F : tensors.probs[row];
    const auto one = [=](std::size_t i) {
      const float gate = simd::raised(gates[i]), up = simd::raised(ups[i]), grad = simd::raised(das[i]);
      const float sigmoid = sigmoid_of(gate), silu = gate * sigmoid;
      dgates[i] = simd::lowered(grad * prob * up * (sigmoid + silu * (1 - sigmoid)));
      dups[i] = simd::lowered(grad * prob * silu);
      return silu * up * grad;
    };
    const float products = simd::lane_sum(width, one);
    if (dprobs != nullptr) dprobs[row] = products;
  }
}

}  // namespace rematch::nn
