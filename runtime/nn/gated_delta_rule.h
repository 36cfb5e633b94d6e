// The gated delta rule over tokens t, for each head: state = exp(g_t) state; state += k_t (beta_t (v_t - state^T k_t))^T;
// o_t = state^T q_t / sqrt(key dim). In chunks: the delta of a whole chunk is one triangular inverse away.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "runtime/nn/mla.h"

namespace rematch::nn {

inline constexpr std::int64_t kDeltaRuleChunk = 64;

// T tokens, N value heads, K columns of a key head, V of a value head
struct DeltaRuleInputs {
  at::Tensor q_TNK;
  at::Tensor k_TNK;
  at::Tensor v_TNV;
  at::Tensor g_TN;  // log of the decay
  at::Tensor beta_TN;
};

// -> [T, N * V]. Keeps its inputs and the inverses [T, N, kDeltaRuleChunk] in q's type, as flash-linear-attention does; states are
// computed again in backward.
at::Tensor gated_delta_rule(const DeltaRuleInputs& inputs, SequenceShape sequence);

}  // namespace rematch::nn
