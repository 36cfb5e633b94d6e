// All random state that a region's forward may draw from, and its restoring for a replay: CPU, device, and the named streams.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "runtime/random/random_streams.h"

namespace rematch::random {

struct RandomState {
  at::Tensor cpu;
  std::optional<at::Tensor> device;  // where the device has a generator of its own
  RandomStreams::States streams;
};

RandomState capture_random_state(const RandomStreams& streams);

// Sets `state` for its lifetime, then puts back what was there.
class RandomStateScope {
 public:
  RandomStateScope(const RandomState& state, RandomStreams& streams);
  ~RandomStateScope();
  RandomStateScope(const RandomStateScope&) = delete;
  RandomStateScope& operator=(const RandomStateScope&) = delete;

 private:
  RandomStreams& streams_;
  RandomState before_;
};

}  // namespace rematch::random
