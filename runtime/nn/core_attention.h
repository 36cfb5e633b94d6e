// The attention itself, by either backend: what the `core_attn` region wraps in every kind of attention layer.
// With context parallelism only fused attention is there, and its messages are part of the region.
// Shapes: B sequences, N heads, G key-value heads (a divisor of N), S local tokens, E head size of q and k, V head size of v; T = S * B.
#pragma once

#include <ATen/core/Tensor.h>

#include "runtime/nn/context_keys.h"
#include "runtime/random/random_streams.h"

namespace rematch::nn {

enum class AttentionBackend { kFused, kUnfused };

struct CoreAttention {
  AttentionBackend backend = AttentionBackend::kFused;
  double scale = 1;
  double attention_dropout = 0;  // 0 <= p < 1
  // Dropout draws from its model-parallel stream, since each tensor-parallel rank has other heads. Null: from the default generator, for a
  // caller that has that stream open already (a scope of one stream must not open it again).
  random::RandomStreams* streams = nullptr;
  ContextGroup context = {};
};

// q [B, N, S, E], k [B, G, S, E], v [B, G, S, V] -> o [T, N * V]
at::Tensor core_attention(const at::Tensor& q_BNSE, const at::Tensor& k_BGSE, const at::Tensor& v_BGSV, const CoreAttention& settings);

}  // namespace rematch::nn
