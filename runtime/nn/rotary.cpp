#include "runtime/nn/rotary.h"

#include <ATen/ATen.h>

#include <vector>

#include "runtime/nn/kernel.h"

namespace rematch::nn {

namespace {

at::Tensor positions(ContextPlace place, std::int64_t num_local, const at::TensorOptions& options) {
  std::vector<at::Tensor> runs;
  for (const auto& run : token_runs(place, num_local)) runs.push_back(at::arange(run.first, run.first + run.count, options));
  return at::cat(runs);
}

}  // namespace

at::Tensor rotate(const at::Tensor& x_SBNR, double base, Turn turn, ContextPlace place) {
  const auto half = x_SBNR.size(3) / 2;
  const auto wide = x_SBNR.options().dtype(math_type(x_SBNR));
  const auto frequency = at::pow(base, at::arange(half, wide).mul_(-1.0 / static_cast<double>(half)));
  const auto angle = at::outer(positions(place, x_SBNR.size(0), wide), frequency).view({-1, 1, 1, half});
  const auto cosine = angle.cos();
  const auto sine = turn == Turn::kForward ? angle.sin() : angle.sin().neg();
  const auto x = x_SBNR.to(math_type(x_SBNR));
  const auto first = x.narrow(3, 0, half), second = x.narrow(3, half, half);
  return at::cat({first * cosine - second * sine, second * cosine + first * sine}, 3);
}

}  // namespace rematch::nn
