#include "runtime/peers/lookout.h"

#include <unistd.h>

#include <thread>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <utility>

#include "probes/host/clock.h"
#include "probes/host/host_identity.h"
#include "runtime/peers/process_life.h"

namespace rematch::peers {

namespace {

using probes::mono_ns;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds kLook{100};       // between two looks at the store while somebody waits for what it shows
constexpr milliseconds kSilence{1'500};  // three beats
// Ranks that are told to end at the same time do not end at the same time.
constexpr milliseconds kGone{300};
// A peer that ran past its deadline closes its connections first, and says whom it blames after it has watched for kSilence.
constexpr milliseconds kPeersWord{1'500};
constexpr milliseconds kStayAfterFailure{3'000};
constexpr milliseconds kStay{10'000};

}  // namespace

Lookout::Lookout(const LookoutRequest& request, c10::intrusive_ptr<c10d::Store> store)
    : request_(request),
      board_(std::move(store), static_cast<int>(request.dims.world_size())),
      host_(probes::host_name()),
      machine_(machine_id()),
      store_answered_ns_(mono_ns()) {}

std::optional<PeerFailure> Lookout::beat() {
  show_state();
  if (!failure_) failure_ = board_.failure();
  if (!failure_ && request_.rank == 0) failure_ = give_up_ranks();
  store_answered_ns_ = mono_ns();
  return failure_;
}

void Lookout::show_state() {
  const auto activity = request_.activity->state();
  board_.publish({.rank = request_.rank,
                  .host = host_,
                  .machine = machine_,
                  .pid = ::getpid(),
                  .beat = ++beat_,
                  .axis = activity.axis,
                  .operation = activity.operation,
                  .peers = activity.peers,
                  .for_ns = mono_ns() - activity.since_ns,
                  .num_begun = activity.num_begun});
}

std::vector<RankState> Lookout::read_states() {
  auto states = board_.states();
  for (int rank = 0; rank < static_cast<int>(request_.dims.world_size()); ++rank) beats_.try_emplace(rank, Beat{0, mono_ns()});
  for (const auto& state : states) {
    auto& seen = beats_[state.rank];
    if (seen.beat != state.beat) seen = {state.beat, mono_ns()};
  }
  store_answered_ns_ = mono_ns();
  return states;
}

std::optional<PeerFailure> Lookout::give_up_ranks() {
  auto scene = scene_of(CollectiveEnd::kConnectionLost, read_states());
  const auto has_left = [this](int rank) { return board_.have_left({rank}); };
  std::erase_if(scene.gone, has_left);
  scene.silent = ranks_silent(request_.collective_timeout);
  scene.silent_for_ns = nanoseconds(request_.collective_timeout).count();
  std::erase_if(scene.silent, has_left);
  if (scene.gone.empty() && scene.silent.empty()) return std::nullopt;
  return board_.report(failure_by(find_culprit(scene, request_.dims), scene, ""));
}

std::set<int> Lookout::ranks_gone(const std::vector<RankState>& states) {
  std::set<int> gone;
  for (const auto& state : states) {
    if (state.machine != machine_ || process_runs(state.pid)) continue;
    const auto since_ns = gone_since_ns_.try_emplace(state.rank, mono_ns()).first->second;
    if (mono_ns() - since_ns >= nanoseconds(kGone).count()) gone.insert(state.rank);
  }
  return gone;
}

std::set<int> Lookout::ranks_silent(nanoseconds limit) const {
  std::set<int> silent;
  for (const auto& [rank, beat] : beats_)
    if (rank != request_.rank && mono_ns() - beat.since_ns >= limit.count()) silent.insert(rank);
  return silent;
}

Scene Lookout::scene_of(CollectiveEnd end, const std::vector<RankState>& states) {
  return {.end = end,
          .states = states,
          .gone = ranks_gone(states),
          .silent = ranks_silent(kSilence),
          .silent_for_ns = nanoseconds(kSilence).count()};
}

PeerFailure Lookout::failure_by(const Suspect& suspect, const Scene& scene, const std::string& error) const {
  PeerFailure failure{.rank = suspect.rank.value_or(request_.rank), .reason = suspect.reason, .reporter = request_.rank};
  if (failure.rank == request_.rank) failure.host = host_;
  for (const auto& state : scene.states)
    if (state.rank == failure.rank) failure.host = state.host;
  if (!error.empty()) failure.reason += "; noticed by rank " + std::to_string(request_.rank) + " on " + host_ + ": " + error;
  return failure;
}

PeerFailure Lookout::blame(CollectiveEnd end, const std::string& error) {
  const auto start_ns = mono_ns();
  const auto limit = end == CollectiveEnd::kTimedOut ? kSilence + 2 * kLook : kSilence + kPeersWord;
  for (;; std::this_thread::sleep_for(kLook)) {
    if (const auto known = beat()) return *known;
    const auto scene = scene_of(end, read_states());
    const nanoseconds watched(mono_ns() - start_ns);
    if (scene.gone.empty() && scene.silent.empty() && watched < limit) continue;
    failure_ = board_.report(failure_by(find_culprit(scene, request_.dims), scene, error));
    return *failure_;
  }
}

void Lookout::report(const std::string& reason) {
  failure_ = board_.report({.rank = request_.rank, .host = host_, .reason = reason, .reporter = request_.rank});
}

void Lookout::leave() {
  board_.leave(request_.rank);
  if (!serves()) return;
  std::set<int> others;
  for (int rank = 1; rank < static_cast<int>(request_.dims.world_size()); ++rank)
    if (!failure_ || failure_->rank != rank || failure_->reporter == rank) others.insert(rank);
  const auto start_ns = mono_ns();
  const nanoseconds limit = failure_ ? kStayAfterFailure : kStay;
  while (!board_.have_left(others) && mono_ns() - start_ns < limit.count()) {
    show_state();
    store_answered_ns_ = mono_ns();
    std::this_thread::sleep_for(kLook);
  }
}

PeerFailure Lookout::failure_of_store(const std::string& what) const {
  if (!request_.rank_zero_serves) return {.reason = "the store that the ranks met at " + what, .reporter = request_.rank};
  PeerFailure failure{.rank = 0, .reason = "the store that rank 0 serves " + what, .reporter = request_.rank};
  return failure;
}

}  // namespace rematch::peers
