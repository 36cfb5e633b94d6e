// y = x w^T. Saves x and w, as Transformer Engine's linear does. Shapes: T tokens, L of them on this rank, I inputs, O outputs.
#pragma once

#include <ATen/core/Tensor.h>

#include "runtime/nn/tensor_parallel.h"

namespace rematch::nn {

// x_TI, w_OI (both bf16) -> [T, O]
at::Tensor linear_layer(const at::Tensor& x_TI, const at::Tensor& w_OI);

// The weight is cut by outputs. Where rows are sharded, x_LI is this rank's and is all that is kept: the others are gathered for the
// product, and again in backward. Otherwise x is whole on every rank. -> [T, O] of this rank's outputs
at::Tensor column_parallel_linear(const at::Tensor& x_LI, const at::Tensor& w_OI, const TensorParallel& tensor_parallel);

// The weight is cut by inputs, and so is x_TI by columns. The sum over the ranks is reduced to this rank's rows where they are sharded,
// else every rank has it whole. -> [L, O]
at::Tensor row_parallel_linear(const at::Tensor& x_TI, const at::Tensor& w_OI, const TensorParallel& tensor_parallel);

}  // namespace rematch::nn
