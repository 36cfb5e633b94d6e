// Qwen3-Next's gate on attention's output. Saves both inputs.
#pragma once

#include <ATen/core/Tensor.h>

namespace rematch::nn {

// o * sigmoid(gate)
at::Tensor gate_output(const at::Tensor& o_TD, const at::Tensor& gate_TD);

}  // namespace rematch::nn
