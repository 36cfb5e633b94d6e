// Word embedding, and the head's cross-entropy. Shapes: T tokens, H hidden, V vocabulary.
#pragma once

#include <ATen/core/Tensor.h>

#include "runtime/nn/tensor_parallel.h"

namespace rematch::nn {

// ids_T int64, table_VH bf16 -> [T, H]. Saves ids. The gradient is summed in fp32 in order of the tokens.
at::Tensor embed(const at::Tensor& ids_T, const at::Tensor& table_VH);

// Mean over the tokens of -log softmax(logits)[label], fp32 scalar. As Transformer Engine's fused form: the fp32 gradient of the logits is
// made in forward and kept, so the logits themselves need not be.
at::Tensor cross_entropy(const at::Tensor& logits_TV, const at::Tensor& labels_T);

// Both over a vocabulary whose rows, or columns of logits, lie on the tensor-parallel ranks in order. Alone: the same as above.
// ids_T: all tokens on every rank, table_VH this rank's rows -> its rows of [T, H] where rows are sharded, else all.
at::Tensor vocab_parallel_embed(const at::Tensor& ids_T, const at::Tensor& table_VH, const TensorParallel& tensor_parallel);
// logits_TV: of all tokens for this rank's words. The ranks gather three fp32 numbers a token; each makes and keeps the gradient of its own
// logits. Every rank has the same loss.
at::Tensor vocab_parallel_cross_entropy(const at::Tensor& logits_TV, const at::Tensor& labels_T, const TensorParallel& tensor_parallel);

}  // namespace rematch::nn
