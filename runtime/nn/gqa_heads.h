// Between grouped-query attention's mixed projection and the attention itself: splitting into heads, and placing them head-major with their
// rotary embedding. Linear in their inputs, so nothing is saved. Shapes: R = T * heads rows of one head each, token by token.
#pragma once

#include <ATen/core/Tensor.h>

#include "runtime/nn/gqa.h"

namespace rematch::nn {

// Columns of the mixed projection. It has for each group, as Megatron's linear_qkv: its query heads, their gates if there are any, the key
// head, the value head.
std::int64_t mixed_width(const GqaShape& shape);

struct GqaHeads {
  at::Tensor q_RE;  // [T * N, E]
  at::Tensor k_RE;  // [T * G, E]
  at::Tensor v_BGSE;
  at::Tensor gate_TD;  // [T, N * E]; undefined without attention_output_gate
};

// Copies: the mixed tensor may go.
GqaHeads split_heads(const at::Tensor& mixed_TD, const GqaShape& shape, SequenceShape sequence);

// x_RE [T * n, E] for any number n of heads -> [B, n, S, E], its first rotary_channels() channels rotated.
at::Tensor place_heads(const at::Tensor& x_RE, const GqaShape& shape, SequenceShape sequence);

}  // namespace rematch::nn
