// How many tokens a micro-batch has, and in which order its rows come.
#pragma once

#include <cstdint>

namespace rematch::nn {

// Tokens come sequence-major: row s * B + b.
struct SequenceShape {
  std::int64_t length = 0;  // S
  std::int64_t batch = 0;   // B
};

}  // namespace rematch::nn
