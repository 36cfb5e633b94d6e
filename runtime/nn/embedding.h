// Word embedding. Shapes: T tokens, H hidden, V vocabulary.
#pragma once

#include <ATen/core/Tensor.h>

#include "runtime/nn/tensor_parallel.h"

namespace rematch::nn {

// ids_T int64, table_VH bf16 -> [T, H]. Saves ids. The gradient is summed in fp32 in order of the tokens.
at::Tensor embed(const at::Tensor& ids_T, const at::Tensor& table_VH);

// The same over a vocabulary whose rows lie on the tensor-parallel ranks in order. Alone: the same as above.
// ids_T: all tokens on every rank, table_VH this rank's rows -> its rows of [T, H] where rows are sharded, else all.
at::Tensor vocab_parallel_embed(const at::Tensor& ids_T, const at::Tensor& table_VH, const TensorParallel& tensor_parallel);

}  // namespace rematch::nn
