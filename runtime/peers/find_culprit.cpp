#include "runtime/peers/find_culprit.h"

#include <algorithm>

namespace rematch::peers {

namespace {

const RankState* state_of(const Scene& scene, int rank) {
  const auto found = std::find_if(scene.states.begin(), scene.states.end(), [rank](const RankState& state) { return state.rank == rank; });
  return found == scene.states.end() ? nullptr : &*found;
}

std::string name_of(const Scene& scene, int rank) {
  const auto* state = state_of(scene, rank);
  return "rank " + std::to_string(rank) + (state ? " on " + state->host : "");
}

bool is_point_to_point(const RankState& state) {
  return state.operation == "send" || state.operation == "receive" || state.operation == "exchange";
}

// Members of a group count their collectives alike; messages between two of them have no such count.
bool wait_together(const RankState& a, const RankState& b) {
  if (a.axis != b.axis) return false;
  if (is_point_to_point(a) || is_point_to_point(b)) return is_point_to_point(a) && is_point_to_point(b);
  return a.operation == b.operation && a.index == b.index;
}

std::vector<int> group_of(const RankState& state, const protocol::ParallelDims& dims) {
  for (const auto axis : protocol::all_axes())
    if (state.axis == protocol::axis_name(axis)) return dims.group_ranks(axis, state.rank);
  return {};
}

// The ranks that a waiting rank may be waiting for: members of its group that are not in the same collective.
bool keeps_others_waiting(const RankState& state, const Scene& scene, const protocol::ParallelDims& dims) {
  return std::any_of(scene.states.begin(), scene.states.end(), [&](const RankState& other) {
    if (other.axis.empty() || wait_together(state, other)) return false;
    const auto group = group_of(other, dims);
    return std::find(group.begin(), group.end(), state.rank) != group.end();
  });
}

template <typename Holds>
const RankState* longest(const Scene& scene, const Holds& holds) {
  const RankState* found = nullptr;
  for (const auto& state : scene.states)
    if (holds(state) && (!found || state.for_ns > found->for_ns)) found = &state;
  return found;
}

std::string names_of(const Scene& scene, const std::set<int>& ranks) {
  std::string all;
  for (const int rank : ranks) all += (all.empty() ? "" : ", ") + name_of(scene, rank);
  return all;
}

}  // namespace

Suspect find_culprit(const Scene& scene, const protocol::ParallelDims& dims) {
  if (!scene.gone.empty()) return {*scene.gone.begin(), "the process has ended of " + names_of(scene, scene.gone)};
  if (!scene.silent.empty())
    return {*scene.silent.begin(),
            "no sign of life for " + seconds_text(scene.silent_for_ns) + " or more from " + names_of(scene, scene.silent)};
  if (scene.end == CollectiveEnd::kConnectionLost) return {std::nullopt, "every rank's process runs"};
  const auto name = [&](const RankState& state) { return Suspect{state.rank, name_of(scene, state.rank) + " is " + deed_of(state)}; };
  const auto computes = [](const RankState& state) { return state.axis.empty(); };
  const auto* computing = longest(scene, computes);
  if (computing && computing->for_ns >= scene.timeout_ns / 2) return name(*computing);
  const auto* elsewhere =
      longest(scene, [&](const RankState& state) { return !computes(state) && keeps_others_waiting(state, scene, dims); });
  if (elsewhere && elsewhere->rank != scene.rank) return name(*elsewhere);
  if (computing) return name(*computing);
  const auto* own = state_of(scene, scene.rank);
  return {std::nullopt, "all ranks wait" + (own ? ", this one " + deed_of(*own) : std::string())};
}

}  // namespace rematch::peers
