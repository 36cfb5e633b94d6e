// The keys by which the ranks of a job tell each other, through their store, that they live, that one failed, and that they have left.
// One thread at a time. Failure: whatever the store throws; then the store is gone.
#pragma once

#include <c10/util/intrusive_ptr.h>

#include <optional>
#include <set>
#include <vector>

#include "runtime/peers/rank_state.h"

namespace c10d {
class Store;
}

namespace rematch::peers {

class Board {
 public:
  Board(c10::intrusive_ptr<c10d::Store> store, int world_size);

  void publish(const RankState& state);
  std::vector<RankState> states();  // of the ranks that have published

  std::optional<PeerFailure> failure();
  // The first failure of the job stands; returns that one.
  PeerFailure report(const PeerFailure& failure);

  // A rank that has left does not look at the store any more.
  void leave(int rank);
  bool have_left(const std::set<int>& ranks);

 private:
  c10::intrusive_ptr<c10d::Store> store_;
  int world_size_;
};

}  // namespace rematch::peers
