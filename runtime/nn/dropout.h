// Dropout. Keeps its mask, one byte an element, and nothing else. Draws from the device's default generator, so that a replay under the
// random state of the first run drops the same elements; a caller opens a random::StreamScope around it to draw from a named stream.
// With p = 0 nothing is drawn and nothing is kept.
#pragma once

#include <ATen/core/Tensor.h>

namespace rematch::nn {

// x with each element zero with probability p (0 <= p < 1), else x / (1 - p). p = 0: x itself.
at::Tensor dropout_layer(const at::Tensor& x, double p);
// residual + dropout_layer(x, p), rounded once: Megatron Core's bias-dropout-add without a bias.
at::Tensor dropout_add(const at::Tensor& x, const at::Tensor& residual, double p);

}  // namespace rematch::nn
