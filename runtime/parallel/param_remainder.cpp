#include "runtime/parallel/param_remainder.h"

#include <ATen/ATen.h>

namespace rematch::parallel {

namespace {
constexpr std::int64_t kHalf = 16;  // bits
}

// With bits = high * 2^16 + low and low in [-2^15, 2^15), high is the pattern of the rounded bf16 and low the remainder. The sum carries
// through sign and exponent as rounding does.
at::Tensor join_remainder(const at::Tensor& param_N, const at::Tensor& remainder_N) {
  auto bits_N = at::bitwise_left_shift(param_N.view(at::kShort).to(at::kInt), kHalf);
  return bits_N.add_(remainder_N).view(at::kFloat);
}

void split_remainder(const at::Tensor& main_N, const at::Tensor& param_N, const at::Tensor& remainder_N) {
  const auto bits_N = main_N.view(at::kInt);
  const auto low_N = at::bitwise_right_shift(at::bitwise_left_shift(bits_N, kHalf), kHalf);  // the sign comes with it
  remainder_N.copy_(low_N);
  param_N.view(at::kShort).copy_(at::bitwise_right_shift(bits_N - low_N, kHalf));
}

}  // namespace rematch::parallel
