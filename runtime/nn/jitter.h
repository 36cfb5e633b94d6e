// Noise on the router's input (moe_input_jitter_eps): each element times a number drawn evenly from [1 - eps, 1 + eps). Drawn from the
// default stream, so a replay draws the same. Saves the factors, in the type of x.
#pragma once

#include <ATen/core/Tensor.h>

namespace rematch::nn {

// eps > 0
at::Tensor jittered(const at::Tensor& x_TH, double epsilon);

}  // namespace rematch::nn
