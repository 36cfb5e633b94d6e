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
  int rank = 0;                    // the one that asks; its own state is the collective that failed
  std::vector<RankState> states;   // of the ranks that have said anything
  std::set<int> gone;              // ranks of this machine whose process has ended
  std::set<int> silent;            // ranks whose beat has stopped
  std::int64_t silent_for_ns = 0;  // how long that was watched
  std::int64_t timeout_ns = 0;     // of a collective
};

struct Suspect {
  std::optional<int> rank;  // nullopt: nobody can be named
  std::string reason;
};

// In this order: a rank whose process has ended, or does not run; and after a deadline the rank that has computed longest, when that is
// half of the deadline or more; the rank that has been longest in another collective than its group; the rank that computes; nobody, since
// all wait.
Suspect find_culprit(const Scene& scene, const protocol::ParallelDims& dims);

}  // namespace rematch::peers
