// Rotary position embedding over the whole last dim: what both kinds of attention do to the rotary part of a head.
// Uncharged arithmetic for the inside of an operation's kernel: no graph, result in math_type.
#pragma once

#include <ATen/core/Tensor.h>

#include "runtime/nn/context_chunks.h"

namespace rematch::nn {

enum class Turn { kForward, kBack };

// Rotates pairs (x[i], x[i + R / 2]) of the last dim by position * base^(-2i / R); dim 0 has the tokens of the rank at `place`, which turn
// by their positions in the whole sequence. `kBack` is its transpose.
at::Tensor rotate(const at::Tensor& x_SBNR, double base, Turn turn, ContextPlace place);

}  // namespace rematch::nn
