#include "orchestrator/launch/merge_parts.h"

#include <signal.h>

#include <algorithm>

#include "schemas/protocol/outcome.h"

namespace rematch::launch {

namespace {

using protocol::LaunchEnd;
using protocol::LaunchRecord;
using Parts = std::vector<std::optional<LaunchRecord>>;

std::string name_of(const StepParts& step, std::size_t node) {
  if (step.parts[node] && !step.parts[node]->nodes.empty()) return step.parts[node]->nodes.front().node;
  return node < step.node_names.size() ? step.node_names[node] : "number " + std::to_string(node);
}

// Whether each node left its part. Slurm may end a step by SIGKILL to all its processes: a supervisor that is killed a moment later than
// its ranks still tells of theirs, and others leave nothing.
enum class Whole { kYes, kNo };

// Its own failure: not that it lost a rank of another node, and not that the step was killed.
bool failed_by_itself(const LaunchRecord& part, Whole step) {
  if (part.end != LaunchEnd::kRankFailed || !part.cause_rank) return false;
  const auto is_cause = [&](const protocol::RankExit& rank) { return rank.rank == *part.cause_rank; };
  const auto cause = std::find_if(part.ranks.begin(), part.ranks.end(), is_cause);
  if (cause == part.ranks.end() || (step == Whole::kNo && cause->signal == SIGKILL)) return false;
  return cause->exit_code != static_cast<int>(protocol::TrainExit::kCommunication);
}

// Nodes that spoke in the order in which they did, then the others.
std::vector<const LaunchRecord*> in_order_of_failure(const StepParts& step) {
  std::vector<const LaunchRecord*> order;
  const auto add = [&](const std::optional<LaunchRecord>& part) {
    if (part && std::find(order.begin(), order.end(), &*part) == order.end()) order.push_back(&*part);
  };
  for (std::int64_t node : step.failed_nodes)
    if (node >= 0 && node < static_cast<std::int64_t>(step.parts.size())) add(step.parts[static_cast<std::size_t>(node)]);
  for (const auto& part : step.parts) add(part);
  return order;
}

// How much the end of a part says of why the whole ended; the most decides. A node that Slurm tells to end, or that reaches the deadline,
// takes the peers of its ranks with it.
enum class Weight { kEndedWell, kFollowedAnother, kLostItsPeers, kWasEnded, kFailedByItself, kCouldNotStart };

Weight weight_of(const LaunchRecord& part, Whole step) {
  switch (part.end) {
    case LaunchEnd::kAllExited: return Weight::kEndedWell;
    case LaunchEnd::kRankFailed:
      if (failed_by_itself(part, step)) return Weight::kFailedByItself;
      return part.cause_rank ? Weight::kLostItsPeers : Weight::kFollowedAnother;
    case LaunchEnd::kTimeout:
    case LaunchEnd::kInterrupted:
    case LaunchEnd::kControllerLost: return Weight::kWasEnded;
    case LaunchEnd::kLaunchFailed:
    case LaunchEnd::kNodeFailed: return Weight::kCouldNotStart;
  }
  return Weight::kEndedWell;
}

const LaunchRecord* deciding_part(const StepParts& step, Whole whole) {
  const LaunchRecord* deciding = nullptr;
  for (const LaunchRecord* part : in_order_of_failure(step))
    if (deciding == nullptr || weight_of(*part, whole) > weight_of(*deciding, whole)) deciding = part;
  return deciding;
}

std::string ranks_text(const std::vector<std::int64_t>& ranks) {
  if (ranks.size() == 1) return "rank " + std::to_string(ranks.front());
  return "ranks " + std::to_string(ranks.front()) + " to " + std::to_string(ranks.back());
}

// nullopt: each node left its part.
std::optional<StepProblem> missing_parts(const protocol::Trial& trial, const StepParts& step) {
  std::string text;
  for (std::size_t node = 0; node < step.parts.size(); ++node)
    if (!step.parts[node])
      text += (text.empty() ? "node " : "; node ") + name_of(step, node) + " (" +
              ranks_text(ranks_of_share(trial, {static_cast<std::int64_t>(node), static_cast<std::int64_t>(step.parts.size()), ""})) +
              ") left no record";
  if (text.empty()) return std::nullopt;
  return StepProblem{LaunchEnd::kControllerLost, text + (step.step_words.empty() ? "" : "; srun: " + step.step_words)};
}

void put_end(const protocol::Trial& trial, const StepParts& step, LaunchRecord& record) {
  const bool is_whole = std::all_of(step.parts.begin(), step.parts.end(), [](const auto& part) { return part.has_value(); });
  const Whole whole = is_whole ? Whole::kYes : Whole::kNo;
  const LaunchRecord* deciding = deciding_part(step, whole);
  const bool has_cause = deciding != nullptr && weight_of(*deciding, whole) >= Weight::kFailedByItself;
  const auto problem = step.problem ? step.problem : missing_parts(trial, step);
  if (problem && !has_cause) {
    record.end = problem->end;
    record.message = problem->message;
  } else if (deciding != nullptr) {
    record.end = deciding->end;
    record.cause_rank = deciding->cause_rank;
    record.message = deciding->message;
    if (!deciding->message.empty()) record.message = "node " + deciding->nodes.front().node + ": " + deciding->message;
  }
}

void put_shared(const Parts& parts, LaunchRecord& record) {
  const auto first = std::find_if(parts.begin(), parts.end(), [](const auto& part) { return part.has_value(); });
  if (first == parts.end()) return;
  record.host = (*first)->host;
  record.supervisor_pid = (*first)->supervisor_pid;
  record.command = (*first)->command;
  record.environment = (*first)->environment;
}

// Of a rank without an exit nothing was heard.
void put_node(const protocol::Trial& trial, const StepParts& step, std::size_t node, LaunchRecord& record) {
  const auto number = static_cast<std::int64_t>(node);
  const auto& part = step.parts[node];
  record.nodes.push_back(part && !part->nodes.empty() ? part->nodes.front()
                                                      : protocol::LaunchNode{name_of(step, node), "", std::nullopt, std::nullopt});
  for (std::int64_t rank : ranks_of_share(trial, {number, static_cast<std::int64_t>(step.parts.size()), ""})) {
    protocol::RankExit exit;
    exit.rank = rank;
    if (part)
      for (const protocol::RankExit& seen : part->ranks)
        if (seen.rank == rank) exit = seen;
    exit.node = number;
    record.ranks.push_back(exit);
  }
  if (part) record.strays_ended += part->strays_ended;
}

}  // namespace

LaunchRecord merge_parts(const protocol::Trial& trial, const StepParts& step) {
  LaunchRecord record;
  record.trial_id = trial.trial_id;
  put_shared(step.parts, record);
  for (std::size_t node = 0; node < step.parts.size(); ++node) put_node(trial, step, node, record);
  put_end(trial, step, record);
  return record;
}

}  // namespace rematch::launch
