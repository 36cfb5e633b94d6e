// Causal attention that keeps q, k, v, o and the log-sum-exp, and recomputes scores by blocks of queries in backward (as flash and fused
// kernels do, whence core_attn's recompute has almost nothing to drop). Runs on every device; head sizes of q/k and v may differ. Query
// heads share key-value heads without copies of them. Dropout keeps the generator's state at forward (host memory) in place of a mask, and
// draws the same mask again in backward.
//
// Under context parallelism q, k and v are the local tokens', and the keys of the other ranks come by the group's way (context_keys.h),
// which says what is received and charged; they are not kept, but fetched again in backward. In a ring the outputs in forward and dq in
// backward add up in fp32 from visit to visit: these sums are charged. Scores, probabilities and other tiles never are.
// Shapes: B sequences, N heads, G key-value heads (a divisor of N), S local tokens, E head size of q and k, V head size of v; T = S * B,
// sequence-major.
#pragma once

#include <ATen/core/Tensor.h>

#include "runtime/nn/context_keys.h"

namespace rematch::nn {

// q [B, N, S, E], k [B, G, S, E], v [B, G, S, V], bf16 -> o [T, N * V]. Head n uses key-value head n / (N / G). Dropout of probabilities
// (0 <= p < 1) draws from the default generator. Collective over the context-parallel group.
at::Tensor fused_causal_attention(const at::Tensor& q_BNSE, const at::Tensor& k_BGSE, const at::Tensor& v_BGSV, double scale,
                                  double dropout = 0, const ContextGroup& context = {});

}  // namespace rematch::nn
