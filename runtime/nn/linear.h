// y = x w^T. Saves x and w, as Transformer Engine's linear does. Shapes: T tokens, I inputs, O outputs.
#pragma once

#include <ATen/core/Tensor.h>

namespace rematch::nn {

// x_TI, w_OI (both bf16) -> [T, O]
at::Tensor linear_layer(const at::Tensor& x_TI, const at::Tensor& w_OI);

}  // namespace rematch::nn
