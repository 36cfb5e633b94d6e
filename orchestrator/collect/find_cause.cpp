#include "orchestrator/collect/find_cause.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "orchestrator/collect/fault.h"
#include "orchestrator/collect/place_failure.h"

namespace rematch::collect {

namespace {

using protocol::FailureKind;
using protocol::LaunchEnd;

// Where a rank of a real job would have failed first: at the earliest step, then stage, then phase. Ranks of a prediction run one after
// another, so that their clocks do not say.
auto progress_at(const Fault& fault) {
  const base::Failure failure = place_failure(*fault.rank, "");
  return std::tuple(fault.standing, failure.step.value_or(-1), failure.stage, failure.phase.value_or(protocol::Phase::kBuild));
}

// Clocks of two nodes are not comparable: the launch record says which node failed first.
std::int64_t node_of_cause(const base::AttemptRows& attempt) {
  for (const base::RankRows& rank : attempt.ranks)
    if (rank.rank == attempt.launch.cause_rank) return rank.exit.node;
  return 0;
}

// Of the likeliest ones the earliest. A rank that was not started says nothing where the attempt ended before its turn.
std::optional<Fault> first_fault(const base::AttemptRows& attempt) {
  const Accusations named = accusations(attempt.ranks);
  const bool cut_short = attempt.launch.end == LaunchEnd::kTimeout;
  const auto key_of = [first_node = node_of_cause(attempt)](const Fault& fault) {
    const std::int64_t node = fault.rank->exit.node;
    return std::tuple(fault.standing, node != first_node, node, fault.mono_ns);
  };
  auto is_before = [&](const Fault& a, const Fault& b) {
    if (attempt.trial.prediction) return progress_at(a) < progress_at(b);
    return key_of(a) < key_of(b);
  };
  std::optional<Fault> first;
  for (const base::RankRows& rank : attempt.ranks) {
    if (cut_short && rank.exit.pid == 0) continue;
    std::optional<Fault> fault = fault_of(rank, named);
    if (fault && (!first || is_before(*fault, *first))) first = fault;
  }
  return first;
}

base::Failure failure_at(const base::RankRows& rank, const base::AttemptRows& attempt, FailureKind kind, const std::string& message) {
  base::Failure failure = place_failure(rank, attempt.launch.host);
  failure.kind = kind;
  failure.message = message;
  return failure;
}

// Without any rank (trial.json unreadable) there is still a kind and a message.
base::Failure failure_of_attempt(const base::AttemptRows& attempt, FailureKind kind, const std::string& message) {
  auto less_progress = [](const base::RankRows& a, const base::RankRows& b) { return progress_of(a) < progress_of(b); };
  auto rank = std::min_element(attempt.ranks.begin(), attempt.ranks.end(), less_progress);
  if (rank != attempt.ranks.end()) return failure_at(*rank, attempt, kind, message);
  base::Failure failure;
  failure.kind = kind;
  failure.host = attempt.launch.host;
  failure.message = message;
  return failure;
}

std::string timeout_message(const base::AttemptRows& attempt) {
  const double seconds = static_cast<double>(attempt.trial.timeout_ms) / 1000.0;
  std::string number = std::to_string(seconds);
  number.erase(number.find('.') + 2);
  return "the deadline of " + number + " s passed; this rank had made the least progress";
}

// Every rank that ended by itself ended well; another went on until the supervisor ended it.
const base::RankRows* straggler_of(const base::AttemptRows& attempt) {
  for (const base::RankRows& rank : attempt.ranks)
    if (rank.exit.ended_by_supervisor) return &rank;
  return nullptr;
}

// Records of another trainer than the trial was planned for say nothing of its arm.
std::optional<base::Failure> trainer_replaced(const base::AttemptRows& attempt) {
  const std::string& planned = attempt.trial.trainer_build_id;
  for (const base::RankRows& rank : attempt.ranks)
    if (rank.hello && rank.hello->build_id != planned)
      return failure_at(
          rank, attempt, FailureKind::kLaunch,
          "the trial was planned for trainer build " + planned + ", and this rank's is " + rank.hello->build_id +
              ": the trainer was replaced while the study ran. Run again: the plan is made anew for the trainer that is there");
  return std::nullopt;
}

std::optional<base::Failure> cause_among_ranks(const base::AttemptRows& attempt) {
  if (auto fault = first_fault(attempt)) return failure_at(*fault->rank, attempt, fault->kind, fault->message);
  if (attempt.launch.end == LaunchEnd::kAllExited) return std::nullopt;
  if (const base::RankRows* straggler = straggler_of(attempt))
    return failure_at(*straggler, attempt, FailureKind::kTimeout,
                      "the rank went on after its peers had ended, until the supervisor ended it");
  const std::string message = "the supervisor saw a rank fail, and no rank's exit or record says why";
  for (const base::RankRows& rank : attempt.ranks)
    if (rank.rank == attempt.launch.cause_rank) return failure_at(rank, attempt, FailureKind::kBadExit, message);
  return failure_of_attempt(attempt, FailureKind::kBadExit, message);
}

// What the other ranks said as they lost it is no cause.
base::Failure cause_of_lost_node(const base::AttemptRows& attempt) {
  for (const base::RankRows& rank : attempt.ranks)
    if (rank.exit.pid == 0) return failure_at(rank, attempt, FailureKind::kNodeFail, attempt.launch.message);
  return failure_of_attempt(attempt, FailureKind::kNodeFail, attempt.launch.message);
}

// A rank that had recorded a failure before the deadline, and then did not end, is the cause; lost connections are victims' words.
base::Failure cause_of_timeout(const base::AttemptRows& attempt) {
  const auto fault = first_fault(attempt);
  if (fault && fault->standing == Standing::kCause) return failure_at(*fault->rank, attempt, fault->kind, fault->message);
  return failure_of_attempt(attempt, FailureKind::kTimeout, timeout_message(attempt));
}

}  // namespace

std::optional<base::Failure> find_cause(const base::AttemptRows& attempt, Documents documents) {
  if (documents == Documents::kUnreadable)
    return failure_of_attempt(attempt, FailureKind::kLost, "the attempt's documents cannot be read: " + attempt.launch.message);
  if (auto replaced = trainer_replaced(attempt)) return replaced;
  const std::string& message = attempt.launch.message;
  switch (attempt.launch.end) {
    case LaunchEnd::kAllExited:
    case LaunchEnd::kRankFailed: return cause_among_ranks(attempt);
    case LaunchEnd::kTimeout: return cause_of_timeout(attempt);
    case LaunchEnd::kInterrupted: return failure_of_attempt(attempt, FailureKind::kInterrupted, message);
    case LaunchEnd::kControllerLost: return failure_of_attempt(attempt, FailureKind::kLost, message);
    case LaunchEnd::kLaunchFailed: return failure_of_attempt(attempt, FailureKind::kLaunch, message);
    case LaunchEnd::kNodeFailed: return cause_of_lost_node(attempt);
  }
  return std::nullopt;
}

}  // namespace rematch::collect
