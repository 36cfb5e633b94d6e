// The arithmetic that the norms share, over the last dim; for the bodies of kernels.
#pragma once

#include <ATen/ATen.h>

#include "runtime/nn/rms_norm.h"

namespace rematch::nn {

// What a norm multiplies by, in the maths' type.
inline at::Tensor norm_scale(const at::Tensor& weight, Gamma gamma, at::ScalarType type) {
  const auto scale = weight.to(type);
  return gamma == Gamma::kZeroCentered ? scale + 1 : scale;
}

inline at::Tensor reciprocal_deviation(const at::Tensor& x, double epsilon) {
  return at::rsqrt(x.square().mean(-1, /*keepdim=*/true) + epsilon);
}

// The gradient of x for one of `normed`, where normed = x * rstd.
inline at::Tensor rms_input_grad(const at::Tensor& dnormed, const at::Tensor& normed, const at::Tensor& rstd) {
  return (dnormed - normed * (dnormed * normed).mean(-1, /*keepdim=*/true)) * rstd;
}

}  // namespace rematch::nn
