// Word embedding, and the head's cross-entropy. Shapes: T tokens, H hidden, V vocabulary.
#pragma once

#include <ATen/core/Tensor.h>

namespace rematch::nn {

// ids_T int64, table_VH bf16 -> [T, H]. Saves ids. The gradient is summed in fp32 in order of the tokens.
at::Tensor embed(const at::Tensor& ids_T, const at::Tensor& table_VH);

// Mean over the tokens of -log softmax(logits)[label], fp32 scalar. As Transformer Engine's fused form: the fp32 gradient of the logits is
// made in forward and kept, so the logits themselves need not be.
at::Tensor cross_entropy(const at::Tensor& logits_TV, const at::Tensor& labels_T);

}  // namespace rematch::nn
