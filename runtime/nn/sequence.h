// How the tokens of a micro-batch lie: sequence-major, row s * B + b.
#pragma once

#include <cstdint>

namespace rematch::nn {

struct SequenceShape {
  std::int64_t length = 0;  // S
  std::int64_t batch = 0;   // B
  std::int64_t micro_batch = 0;  // of the step: which one this is
  std::int64_t num_tokens() const { return length * batch; }
};

}  // namespace rematch::nn
