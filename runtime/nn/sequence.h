// How the tokens of a micro-batch lie on a rank: sequence-major, row s * B + b; and which micro-batch it is.
#pragma once

#include <cstdint>

#include "runtime/nn/context_chunks.h"

namespace rematch::nn {

struct SequenceShape {
  std::int64_t length = 0;       // S: tokens of each sequence on this rank
  std::int64_t batch = 0;        // B
  ContextPlace place = {};       // which of the sequence's tokens they are
  std::int64_t micro_batch = 0;  // of its step, from 0: a replay is told by it from the next micro-batch's forward
  std::int64_t num_tokens() const { return length * batch; }
};

}  // namespace rematch::nn
