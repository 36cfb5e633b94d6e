// Qwen3-Next's gates: one a value on attention's output, one a row on the shared experts'. Saves both inputs.
#pragma once

#include <ATen/core/Tensor.h>

namespace rematch::nn {

// o * sigmoid(gate), gate [T, D] or [T, 1], in the type of o -> [T, D]
at::Tensor gate_output(const at::Tensor& o_TD, const at::Tensor& gate_TG);

}  // namespace rematch::nn
