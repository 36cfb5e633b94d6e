// Causal attention that keeps q, k, v, o and the log-sum-exp, and recomputes scores by blocks of queries in backward (as flash and fused
// kernels do, whence core_attn's recompute has almost nothing to drop). Runs on every device; head sizes of q/k and v may differ.
// Shapes: B sequences, N heads, S tokens, E head size of q and k, V head size of v; T = S * B tokens, sequence-major.
#pragma once

#include <ATen/core/Tensor.h>

namespace rematch::nn {

// q, k [B, N, S, E], v [B, N, S, V], bf16 -> o [T, N * V]
at::Tensor fused_causal_attention(const at::Tensor& q_BNSE, const at::Tensor& k_BNSE, const at::Tensor& v_BNSV, double scale);

}  // namespace rematch::nn
