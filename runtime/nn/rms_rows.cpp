#include "runtime/nn/rms_rows.h"

#include <cmath>

namespace rematch::nn {

REMATCH_SIMD void rms_norm_rows(const RmsForward& tensors, const RmsRows& rows) {
  const auto width = rows.width;
  const float* const scale = rows.scale;
  for (std::size_t row = rows.first; row < rows.last; ++row) {
    const simd::Bf16* const x = tensors.x + row * rows.x_stride;
    simd::Bf16* const y = tensors.y + row * width;
    const float squares = simd::lane_sum(width, [x](std::size_t i) { return simd::raised(x[i]) * simd::raised(x[i]); });
    const float rstd = 1 / std::sqrt(squares / static_cast<float>(width) + tensors.epsilon);
    tensors.rstd[row] = rstd;
    for (std::size_t i = 0; i < width; ++i) y[i] = simd::lowered(simd::raised(x[i]) * rstd * scale[i]);
  }
}

REMATCH_SIMD void rms_norm_grad_rows(const RmsBackward& tensors, const RmsRows& rows) {
  const auto width = rows.width;
  const float* const scale = rows.scale;
  float* const dscale = tensors.dscale;
  for (std::size_t row = rows.first; row < rows.last; ++row) {
    const simd::Bf16* const x = tensors.x + row * rows.x_stride;
    const simd::Bf16* const dy = tensors.dy + row * width;
    simd::Bf16* const dx = tensors.dx + row * rows.x_stride;
    const float rstd = tensors.rstd[row];
    const float products =
        simd::lane_sum(width, [=](std::size_t i) { return simd::raised(dy[i]) * scale[i] * (simd::raised(x[i]) * rstd); });
    const float projection = products / static_cast<float>(width);
    for (std::size_t i = 0; i < width; ++i) {
      const float normed = simd::raised(x[i]) * rstd, grad = simd::raised(dy[i]);
      dscale[i] += grad * normed;
      dx[i] = simd::lowered((grad * scale[i] - normed * projection) * rstd);
    }
    for (std::size_t i = width; i < rows.x_stride; ++i) dx[i] = 0;
  }
}

}  // namespace rematch::nn
