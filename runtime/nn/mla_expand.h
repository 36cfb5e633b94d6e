// From the up projections' outputs to attention's q, k, v: rotary embedding, the shared rotary key broadcast to all heads, contiguous
// copies. Linear in its inputs, so nothing is saved.
#pragma once

#include <ATen/core/Tensor.h>

#include "runtime/nn/mla.h"

namespace rematch::nn {

struct Qkv {
  at::Tensor q_BNSE;
  at::Tensor k_BNSE;
  at::Tensor v_BNSV;
};

// q_TD [T, N * (nope + rope)], kv_TD [T, N * (nope + V)], latent_TD [T, any width] of which the last `rope` columns are the rotary key.
Qkv mla_expand(const at::Tensor& q_TD, const at::Tensor& kv_TD, const at::Tensor& latent_TD, const MlaShape& shape, SequenceShape sequence);

}  // namespace rematch::nn
