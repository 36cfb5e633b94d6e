#include "runtime/peers/find_culprit.h"

#include <algorithm>

namespace rematch::peers {

namespace {

std::string name_of(const RankState& state) { return "rank " + std::to_string(state.rank) + " on " + state.host; }

std::string names_of(const std::vector<RankState>& states, const std::set<int>& ranks) {
  std::string all;
  for (const int rank : ranks) {
    const auto state = std::find_if(states.begin(), states.end(), [rank](const RankState& known) { return known.rank == rank; });
    all += (all.empty() ? "" : ", ") + (state == states.end() ? "rank " + std::to_string(rank) : name_of(*state));
  }
  return all;
}

std::vector<int> group_of(const RankState& state, const protocol::ParallelDims& dims) {
  for (const auto axis : protocol::all_axes())
    if (state.axis == protocol::axis_name(axis)) return dims.group_ranks(axis, state.rank);
  return {};
}

std::int64_t num_begun(const RankState& state, const std::string& axis) {
  const auto found = state.num_begun.find(axis);
  return found == state.num_begun.end() ? 0 : found->second;
}

// Members of a group count their collectives alike: who has begun fewer has not come yet, and who is in the same with another operation
// never will.
bool keeps_waiting(const RankState& member, const RankState& waiting) {
  const auto come = num_begun(member, waiting.axis), wanted = num_begun(waiting, waiting.axis);
  if (come != wanted) return come < wanted;
  return member.axis == waiting.axis && member.peers.empty() && member.operation != waiting.operation;
}

bool waits_for(const RankState& waiting, const RankState& other, const protocol::ParallelDims& dims) {
  if (waiting.axis.empty() || waiting.rank == other.rank) return false;
  const auto group = group_of(waiting, dims);
  const auto position = std::find(group.begin(), group.end(), other.rank) - group.begin();
  if (position == static_cast<std::ptrdiff_t>(group.size())) return false;
  if (waiting.peers.empty()) return keeps_waiting(other, waiting);
  return std::find(waiting.peers.begin(), waiting.peers.end(), position) != waiting.peers.end();
}

struct Standing {
  const RankState* state = nullptr;
  std::int64_t num_waiting_for_it = 0;
  bool waits = false;
};

std::vector<Standing> standings(const Scene& scene, const protocol::ParallelDims& dims) {
  std::vector<Standing> all;
  for (const auto& state : scene.states) {
    const auto waiting = [&](const RankState& other) { return waits_for(other, state, dims); };
    const auto awaited = [&](const RankState& other) { return waits_for(state, other, dims); };
    all.push_back({&state, std::count_if(scene.states.begin(), scene.states.end(), waiting),
                   std::any_of(scene.states.begin(), scene.states.end(), awaited)});
  }
  return all;
}

// The one who has been at the same thing longest.
const RankState* longest_awaited(const std::vector<Standing>& standings) {
  const RankState* found = nullptr;
  for (const auto& standing : standings)
    if (!standing.waits && standing.num_waiting_for_it > 0 && (!found || standing.state->for_ns > found->for_ns)) found = standing.state;
  return found;
}

// nullptr where two are awaited by as many.
const RankState* most_awaited(std::vector<Standing> standings) {
  const auto by_number = [](const Standing& a, const Standing& b) { return a.num_waiting_for_it > b.num_waiting_for_it; };
  std::stable_sort(standings.begin(), standings.end(), by_number);
  if (standings.empty() || standings.front().num_waiting_for_it == 0) return nullptr;
  if (standings.size() > 1 && standings[1].num_waiting_for_it == standings[0].num_waiting_for_it) return nullptr;
  return standings.front().state;
}

std::string all_deeds(const std::vector<RankState>& states) {
  constexpr std::size_t kMost = 16;
  std::string text;
  for (std::size_t i = 0; i < std::min(states.size(), kMost); ++i)
    text += (text.empty() ? "" : ", ") + ("rank " + std::to_string(states[i].rank)) + " " + deed_of(states[i]);
  return text + (states.size() > kMost ? ", ..." : "");
}

}  // namespace

Suspect find_culprit(const Scene& scene, const protocol::ParallelDims& dims) {
  if (!scene.gone.empty()) return {*scene.gone.begin(), "the process has ended of " + names_of(scene.states, scene.gone)};
  if (!scene.silent.empty())
    return {*scene.silent.begin(),
            "no sign of life for " + seconds_text(scene.silent_for_ns) + " or more from " + names_of(scene.states, scene.silent)};
  if (scene.end == CollectiveEnd::kConnectionLost) return {std::nullopt, "every rank's process runs"};
  const auto all = standings(scene, dims);
  const auto* culprit = longest_awaited(all);
  if (!culprit) culprit = most_awaited(all);
  if (culprit) return {culprit->rank, name_of(*culprit) + " " + deed_of(*culprit) + ", and others wait for it"};
  return {std::nullopt, "all ranks wait: " + all_deeds(scene.states)};
}

}  // namespace rematch::peers
