// Mamba2 between its projections as one operation, like the memory-efficient kernel that Megatron calls: convolution, selective scan, skip,
// gate. Keeps its input and the scan's output before the gate; convolution, decays and states are computed again in backward.
#pragma once

#include <ATen/core/Tensor.h>

#include "runtime/nn/mamba.h"

namespace rematch::nn {

// W = conv_size(), N heads
struct Mamba2Weights {
  at::Tensor conv_weight_WK;
  at::Tensor conv_bias_W;
  at::Tensor dt_bias_N;
  at::Tensor a_log_N;
  at::Tensor skip_N;
};

// zxbcdt_TP: columns z, x, B, C, dt -> [T, inner_size()]
at::Tensor mamba2_scan(const at::Tensor& zxbcdt_TP, const Mamba2Weights& weights, const Mamba2Shape& shape, SequenceShape sequence);

}  // namespace rematch::nn
