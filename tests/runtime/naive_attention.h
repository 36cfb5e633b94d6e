// The plain twins of attention's parts, in any type.
#pragma once

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

namespace rematch::nn {

// q [B, N, S, E], k [B, G, S, E], v [B, G, S, V] -> [T, N * V]. `keep_factors` [B, N, S, S] multiply the probabilities.
inline at::Tensor naive_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, double scale,
                                  const at::Tensor& keep_factors = {}) {
  const auto heads_a_group = q.size(1) / k.size(1), length = q.size(2);
  auto scores = at::matmul(q, k.repeat_interleave(heads_a_group, 1).transpose(2, 3)) * scale;
  scores = scores.masked_fill(at::ones({length, length}, at::kBool).triu(1), -std::numeric_limits<double>::infinity());
  auto probs = scores.softmax(3);
  if (keep_factors.defined()) probs = probs * keep_factors;
  const auto o = at::matmul(probs, v.repeat_interleave(heads_a_group, 1));
  return o.permute({2, 0, 1, 3}).reshape({length * q.size(0), -1});
}

// x [S, B, n, E]: the first `channels` of E turn, as complex numbers (x[i], x[i + channels / 2]), by position * base^(-2i / channels).
inline at::Tensor naive_rotation(const at::Tensor& x, std::int64_t channels, double base) {
  if (channels == 0) return x;
  const auto halves = x.narrow(3, 0, channels).chunk(2, 3);
  const auto frequency = at::pow(base, at::arange(channels / 2, at::kDouble) * (-2.0 / static_cast<double>(channels)));
  const auto angle = at::outer(at::arange(x.size(0), at::kDouble), frequency).view({x.size(0), 1, 1, channels / 2});
  const auto turned = at::complex(halves[0], halves[1]) * at::polar(at::ones_like(angle), angle);
  return at::cat({at::real(turned), at::imag(turned), x.narrow(3, channels, x.size(3) - channels)}, 3);
}

}  // namespace rematch::nn
