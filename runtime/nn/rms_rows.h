// RMSNorm of bf16 rows in fp32, a row at a time: one pass where a chain of operators makes a temporary each. Plain arrays; a caller spreads
// the rows over threads.
#pragma once

#include <cstddef>

#include "runtime/nn/simd.h"

namespace rematch::nn {

// Rows [first, last); those of x (and dx) are x_stride elements apart, of which `width` are normed, all others are packed.
struct RmsRows {
  std::size_t first, last;
  std::size_t width, x_stride;
  const float* scale;  // [width]
};

struct RmsForward {
  const simd::Bf16* x;
  simd::Bf16* y;
  float* rstd;  // one a row: 1 / sqrt(mean(x^2) + epsilon)
  float epsilon;
};

struct RmsBackward {
  const simd::Bf16 *x, *dy;
  const float* rstd;
  simd::Bf16* dx;  // columns past `width` become 0
  float* dscale;   // [width], added to: of these rows
};

void rms_norm_rows(const RmsForward& tensors, const RmsRows& rows);
void rms_norm_grad_rows(const RmsBackward& tensors, const RmsRows& rows);

}  // namespace rematch::nn
