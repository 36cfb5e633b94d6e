// The head's cross-entropy. Shapes: T tokens, V vocabulary.
#pragma once

#include <ATen/core/Tensor.h>

#include "runtime/nn/tensor_parallel.h"

namespace rematch::nn {

// What forward keeps for backward (features.cross_entropy_gradient). Both give the same loss and the same gradient to the bit.
//   kFp32     the fp32 gradient of the logits [T, V], so that the logits themselves need not be kept; backward rounds it to a tensor of its
//             own. As Transformer Engine's fused form.
//   kInPlace  the logits, and two fp32 numbers a token; backward writes the gradient over the logits, which must be nobody else's then. No
//             other [T, V] at any time.
enum class LogitsGradient { kFp32, kInPlace };

// Mean over the tokens of -log softmax(logits)[label], fp32 scalar.
at::Tensor cross_entropy(const at::Tensor& logits_TV, const at::Tensor& labels_T, LogitsGradient form = LogitsGradient::kFp32);

// The same over a vocabulary whose words, columns of logits, lie on the tensor-parallel ranks in order. logits_TV: of all tokens for this
// rank's words. The ranks gather three fp32 numbers a token; each makes the gradient of its own logits. Every rank has the same loss.
at::Tensor vocab_parallel_cross_entropy(const at::Tensor& logits_TV, const at::Tensor& labels_T, const TensorParallel& tensor_parallel,
                                        LogitsGradient form = LogitsGradient::kFp32);

}  // namespace rematch::nn
