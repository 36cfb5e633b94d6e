// SwiGLU of bf16 rows in fp32, a row at a time, each weighted by a probability. Plain arrays; a caller spreads the rows over threads.
#pragma once

#include <cstddef>

#include "runtime/nn/simd.h"

namespace rematch::nn {

// h: [rows, 2 * width], gate then up. probs: one a row, or null for 1.
struct SwigluRows {
  const simd::Bf16* h;
  const float* probs;
  std::size_t width;
};

void swiglu_rows(simd::Bf16* a, const SwigluRows& tensors, std::size_t first, std::size_t last);
// dprobs: one a row; null when probs is.
void swiglu_grad_rows(simd::Bf16* dh, float* dprobs, const simd::Bf16* da, const SwigluRows& tensors, std::size_t first, std::size_t last);

}  // namespace rematch::nn
