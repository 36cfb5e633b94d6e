// What the watch does with the store: shows this rank's state, sees who failed or fell silent, and decides who is to blame.
// One thread, the watch's; only `store_answered_ns` may be read by another. Every wait is bounded, unless the store itself hangs.
// Failure: whatever the store throws; then it is gone.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/comm/activity.h"
#include "runtime/peers/board.h"
#include "runtime/peers/find_culprit.h"
#include "schemas/protocol/parallel_dims.h"

namespace rematch::peers {

struct LookoutRequest {
  int rank = 0;
  protocol::ParallelDims dims;
  std::chrono::milliseconds collective_timeout{0};
  bool rank_zero_serves = true;  // the store; else somebody outside of the job
  const comm::Activity* activity = nullptr;
};

class Lookout {
 public:
  Lookout(const LookoutRequest& request, c10::intrusive_ptr<c10d::Store> store);

  // One beat: shows the state and looks whether somebody failed. The rank that serves the store also gives up ranks of its machine whose
  // process has ended, and any rank that has shown no new state for as long as a collective may take.
  std::optional<PeerFailure> beat();
  // A collective of this rank failed so, with this message. Watches for a while, tells the peers, and returns whom they are told.
  PeerFailure blame(CollectiveEnd end, const std::string& error);
  // This rank failed by itself.
  void report(const std::string& reason);
  // This rank looks no more. The one that serves the store stays until the others have left, or a limit has passed.
  void leave();

  PeerFailure failure_of_store(const std::string& what) const;
  std::int64_t store_answered_ns() const { return store_answered_ns_; }

 private:
  void show_state();
  std::vector<RankState> read_states();
  std::optional<PeerFailure> give_up_ranks();
  std::set<int> ranks_gone(const std::vector<RankState>& states);
  std::set<int> ranks_silent(const std::vector<RankState>& states, std::chrono::nanoseconds limit);
  Scene scene_of(CollectiveEnd end, const std::vector<RankState>& states);
  PeerFailure failure_by(const Suspect& suspect, const Scene& scene, const std::string& error) const;
  bool serves() const { return request_.rank_zero_serves && request_.rank == 0; }

  struct Beat {
    std::int64_t beat = 0;
    std::int64_t since_ns = 0;  // when this rank first saw it
  };

  LookoutRequest request_;
  Board board_;
  std::string host_, machine_;
  std::int64_t beat_ = 0;
  std::map<int, Beat> beats_;                  // last seen, by rank
  std::map<int, std::int64_t> gone_since_ns_;  // by rank, when its process was first found to have ended
  std::optional<PeerFailure> failure_;
  std::atomic<std::int64_t> store_answered_ns_;
};

}  // namespace rematch::peers
