// A row-wise gate: y = x sigmoid(logit), one logit a row (Qwen3-Next's shared-expert gate). Saves x and the logits.
#pragma once

#include <ATen/core/Tensor.h>

namespace rematch::nn {

// x_TH and logits_T1 of one type -> [T, H]
at::Tensor gated_rows(const at::Tensor& x_TH, const at::Tensor& logits_T1);

}  // namespace rematch::nn
