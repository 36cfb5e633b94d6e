#include "runtime/random/random_state.h"

#include "runtime/random/generators.h"

namespace rematch::random {

namespace {

void write_random_state(const RandomState& state, RandomStreams& streams) {
  write_generator(at::kCPU, state.cpu);
  if (state.device) write_generator(streams.device(), *state.device);
  streams.set_states(state.streams);
}

}  // namespace

RandomState capture_random_state(const RandomStreams& streams) {
  RandomState state{.cpu = read_generator(at::kCPU), .device = std::nullopt, .streams = streams.states()};
  if (streams.device().is_cuda()) state.device = read_generator(streams.device());
  return state;
}

RandomStateScope::RandomStateScope(const RandomState& state, RandomStreams& streams)
    : streams_(streams), before_(capture_random_state(streams)) {
  write_random_state(state, streams);
}

RandomStateScope::~RandomStateScope() { write_random_state(before_, streams_); }

}  // namespace rematch::random
