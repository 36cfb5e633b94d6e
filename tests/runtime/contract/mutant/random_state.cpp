// A mutant of runtime/random/random_state.cpp: replays go on from whatever random state they find. Only the mutant test links it.
#include "runtime/random/random_state.h"

namespace rematch::random {

RandomState capture_random_state(const RandomStreams&) { return {}; }
RandomStateScope::RandomStateScope(const RandomState&, RandomStreams& streams) : streams_(streams) {}
RandomStateScope::~RandomStateScope() = default;

}  // namespace rematch::random
