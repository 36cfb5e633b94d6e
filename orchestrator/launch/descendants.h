// Ending what a trial left behind. Called by a supervisor, which is the subreaper of all its descendants, once its ranks are reaped:
// whatever left its group, its session or its parent has become the supervisor's own child by then, or will when its parent ends.
#pragma once

#include <chrono>
#include <cstdint>

namespace rematch::launch {

struct DescendantsEnded {
  std::int64_t num_killed = 0;  // that were still running
  bool all_gone = true;         // false: the deadline passed first
};

// Kills and reaps children of the calling process until it has none. Only own children are signalled: their ids cannot be reused before
// they are reaped.
DescendantsEnded end_descendants(std::chrono::milliseconds deadline);

}  // namespace rematch::launch
