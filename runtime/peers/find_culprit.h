// Who is to blame when a collective fails or runs past its deadline: decided by what every rank says of itself. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/peers/rank_state.h"
#include "schemas/protocol/parallel_dims.h"

namespace rematch::peers {

enum class CollectiveEnd { kConnectionLost, kTimedOut };

struct Scene {
  CollectiveEnd end = CollectiveEnd::kConnectionLost;
  std::vector<RankState> states;   // of the ranks that have said anything
  std::set<int> gone;              // ranks of this machine whose process has ended
  std::set<int> silent;            // ranks whose beat has stopped
  std::int64_t silent_for_ns = 0;  // for this long, or longer
};

struct Suspect {
  std::optional<int> rank;  // nullopt: nobody can be named
  std::string reason;
};

// In this order: a rank whose process has ended; one that shows no life; and after a deadline one that others wait for and that waits for
// nobody, be it that it computes or that all have come to the collective it is in; the one that most others wait for; nobody.
Suspect find_culprit(const Scene& scene, const protocol::ParallelDims& dims);

}  // namespace rematch::peers
