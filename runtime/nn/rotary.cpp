#include "runtime/nn/rotary.h"

#include <ATen/ATen.h>

#include "runtime/nn/kernel.h"

namespace rematch::nn {

at::Tensor rotate(const at::Tensor& x_SBNR, double base, Turn turn) {
  const auto half = x_SBNR.size(3) / 2;
  const auto wide = x_SBNR.options().dtype(math_type(x_SBNR));
  const auto frequency = at::pow(base, at::arange(half, wide).mul_(-1.0 / static_cast<double>(half)));
  const auto angle = at::outer(at::arange(x_SBNR.size(0), wide), frequency).view({-1, 1, 1, half});
  const auto cosine = angle.cos();
  const auto sine = turn == Turn::kForward ? angle.sin() : angle.sin().neg();
  const auto x = x_SBNR.to(math_type(x_SBNR));
  const auto first = x.narrow(3, 0, half), second = x.narrow(3, half, half);
  return at::cat({first * cosine - second * sine, second * cosine + first * sine}, 3);
}

}  // namespace rematch::nn
