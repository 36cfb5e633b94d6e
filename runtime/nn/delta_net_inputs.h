// What a gated delta net feeds to the gated delta rule, from the convolution's output and the projections alpha and beta.
#pragma once

#include <ATen/core/Tensor.h>

#include "runtime/nn/gated_delta_net.h"

namespace rematch::nn {

struct DeltaHeads {
  at::Tensor q_TNK;
  at::Tensor k_TNK;
  at::Tensor v_TNV;
};

// qkv_TC: columns q, k, v. q and k are l2-normed per key head and repeated to the value heads; v is copied. Saves qkv and the fp32
// reciprocal norms [T, 2 * key heads].
DeltaHeads delta_heads(const at::Tensor& qkv_TC, const GatedDeltaNetShape& shape);

struct DeltaGates {
  at::Tensor g_TN;     // -exp(a_log) * softplus(alpha + dt_bias), fp32
  at::Tensor beta_TN;  // sigmoid(beta)
};
struct DeltaGateWeights {
  at::Tensor dt_bias_N;
  at::Tensor a_log_N;
};

// Saves alpha and its result for beta.
DeltaGates delta_gates(const at::Tensor& beta_TN, const at::Tensor& alpha_TN, const DeltaGateWeights& weights);

}  // namespace rematch::nn
