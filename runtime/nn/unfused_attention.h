// Causal attention with explicit scores, step by step as Megatron Core's DotProductAttention with attention_softmax_in_fp32 and no fused
// softmax: scores in bf16, softmax in fp32, probabilities in bf16, dropout, product with v. Each step is an operation of its own and its
// results are charged while they live, so the S * S transients count as they would there.
//
// Kept for backward, bytes with bf16 inputs (B sequences, N heads, G key-value heads, S tokens, E and V head sizes of q/k and v):
//   q 2BNSE, k 2BNSE, v 2BNSV    with N > G k and v are copies repeated to N heads, which are kept in place of the originals
//   softmax 4BNSS                fp32
//   probabilities 2BNSS          bf16, what multiplies v; under dropout the dropped ones, and those before it are not kept
//   dropout mask 1BNSS           only with dropout > 0
// that is (6 or 7) * BNSS + 2BNS * (2E + V). The bf16 scores are not kept: softmax needs its output only.
// Alive at once in forward, at the softmax: scores 2BNSS, their fp32 copy 4BNSS, softmax 4BNSS, probabilities 2BNSS.
#pragma once

#include <ATen/core/Tensor.h>

namespace rematch::nn {

// q [B, N, S, E], k [B, G, S, E], v [B, G, S, V] -> o [T, N * V]. Dropout draws from the default generator.
at::Tensor unfused_causal_attention(const at::Tensor& q_BNSE, const at::Tensor& k_BGSE, const at::Tensor& v_BGSV, double scale,
                                    double dropout = 0);

}  // namespace rematch::nn
