// SwiGLU: silu(gate) * up, with each row scaled by a routing probability where there is one. Saves its inputs only.
#pragma once

#include <ATen/core/Tensor.h>

namespace rematch::nn {

// h_R2F = [gate, up] -> [R, F]
at::Tensor swiglu(const at::Tensor& h_R2F);
// probs_R fp32
at::Tensor weighted_swiglu(const at::Tensor& h_R2F, const at::Tensor& probs_R);

}  // namespace rematch::nn
