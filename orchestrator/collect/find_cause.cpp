#include "orchestrator/collect/find_cause.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "orchestrator/collect/place_failure.h"

namespace rematch::collect {

namespace {

using protocol::FailureKind;
using protocol::LaunchEnd;

// What went wrong on one rank, by its own record or else by its exit.
struct Fault {
  const base::RankRows* rank = nullptr;
  FailureKind kind = FailureKind::kBadExit;
  std::int64_t mono_ns = 0;
  std::string message;
};

std::string signal_name(std::int64_t signal) {
  const char* abbreviation = sigabbrev_np(static_cast<int>(signal));
  return abbreviation != nullptr ? std::string("SIG") + abbreviation : "signal " + std::to_string(signal);
}

FailureKind kind_of_exit(std::int64_t code) {
  switch (static_cast<protocol::TrainExit>(code)) {
    case protocol::TrainExit::kOutOfMemory: return FailureKind::kOom;
    case protocol::TrainExit::kNumerics: return FailureKind::kNumerics;
    case protocol::TrainExit::kCommunication: return FailureKind::kComm;
    case protocol::TrainExit::kDeadline: return FailureKind::kTimeout;
    case protocol::TrainExit::kInterrupted: return FailureKind::kInterrupted;
    case protocol::TrainExit::kDone:
    case protocol::TrainExit::kBadTrial:
    case protocol::TrainExit::kInternal: return FailureKind::kBadExit;
  }
  return FailureKind::kBadExit;  // a code that the trainer does not use
}

// That it was told to stop is no failure of a rank's own when the supervisor told it.
std::optional<Fault> fault_by_record(const base::RankRows& rank) {
  if (rank.oom) return Fault{&rank, FailureKind::kOom, rank.oom->mono_ns, rank.oom->message};
  for (const protocol::ErrorRecord& error : rank.errors)
    if (error.kind != FailureKind::kInterrupted || !rank.exit.ended_by_supervisor)
      return Fault{&rank, error.kind, error.mono_ns, error.message};
  return std::nullopt;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "; ") + line;
  return text;
}

std::optional<Fault> fault_by_exit(const base::RankRows& rank) {
  const protocol::RankExit& exit = rank.exit;
  if (exit.signal) {
    std::string message = "ended by " + signal_name(*exit.signal);
    if (*exit.signal == SIGKILL) message += ", which the supervisor did not send; there is no evidence of the kernel's memory killer";
    return Fault{&rank, FailureKind::kCrashed, exit.end_mono_ns, message};
  }
  if (!exit.exit_code) return Fault{&rank, FailureKind::kLaunch, exit.end_mono_ns, "the rank was never started"};
  if (*exit.exit_code != 0)
    return Fault{&rank, kind_of_exit(*exit.exit_code), exit.end_mono_ns, "exit code " + std::to_string(*exit.exit_code)};
  if (!rank.bye) return Fault{&rank, FailureKind::kBadExit, exit.end_mono_ns, "exit code 0 without its last record line (bye)"};
  if (!rank.record_complete)
    return Fault{&rank, FailureKind::kBadExit, exit.end_mono_ns, "exit code 0 with a damaged record: " + joined(rank.record_problems)};
  return std::nullopt;
}

// A rank that the supervisor ended is a victim, unless it had recorded a failure of its own before.
std::optional<Fault> fault_of(const base::RankRows& rank) {
  if (auto fault = fault_by_record(rank)) return fault;
  if (rank.exit.ended_by_supervisor) return std::nullopt;
  return fault_by_exit(rank);
}

// Peers of a failed rank lose their connection or are told to stop; 0 is the most likely cause.
int victim_class(FailureKind kind) {
  if (kind == FailureKind::kInterrupted) return 2;
  return kind == FailureKind::kComm ? 1 : 0;
}

std::optional<Fault> first_fault(const std::vector<base::RankRows>& ranks) {
  std::optional<Fault> first;
  for (const base::RankRows& rank : ranks) {
    std::optional<Fault> fault = fault_of(rank);
    if (!fault) continue;
    auto order = [](const Fault& f) { return std::pair(victim_class(f.kind), f.mono_ns); };
    if (!first || order(*fault) < order(*first)) first = fault;
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

std::optional<base::Failure> cause_among_ranks(const base::AttemptRows& attempt) {
  if (auto fault = first_fault(attempt.ranks)) return failure_at(*fault->rank, attempt, fault->kind, fault->message);
  if (attempt.launch.end == LaunchEnd::kAllExited) return std::nullopt;
  if (const base::RankRows* straggler = straggler_of(attempt))
    return failure_at(*straggler, attempt, FailureKind::kTimeout,
                      "the rank went on after its peers had ended, until the supervisor ended it");
  const std::string message = "the supervisor saw a rank fail, and no rank's exit or record says why";
  for (const base::RankRows& rank : attempt.ranks)
    if (rank.rank == attempt.launch.cause_rank) return failure_at(rank, attempt, FailureKind::kBadExit, message);
  return failure_of_attempt(attempt, FailureKind::kBadExit, message);
}

// A rank that had recorded a failure before the deadline, and then did not end, is the cause; lost connections are victims' words.
base::Failure cause_of_timeout(const base::AttemptRows& attempt) {
  const auto fault = first_fault(attempt.ranks);
  if (fault && victim_class(fault->kind) == 0) return failure_at(*fault->rank, attempt, fault->kind, fault->message);
  return failure_of_attempt(attempt, FailureKind::kTimeout, timeout_message(attempt));
}

}  // namespace

std::optional<base::Failure> find_cause(const base::AttemptRows& attempt, Documents documents) {
  if (documents == Documents::kUnreadable)
    return failure_of_attempt(attempt, FailureKind::kLost, "the attempt's documents cannot be read: " + attempt.launch.message);
  const std::string& message = attempt.launch.message;
  switch (attempt.launch.end) {
    case LaunchEnd::kAllExited:
    case LaunchEnd::kRankFailed: return cause_among_ranks(attempt);
    case LaunchEnd::kTimeout: return cause_of_timeout(attempt);
    case LaunchEnd::kInterrupted: return failure_of_attempt(attempt, FailureKind::kInterrupted, message);
    case LaunchEnd::kControllerLost: return failure_of_attempt(attempt, FailureKind::kLost, message);
    case LaunchEnd::kLaunchFailed: return failure_of_attempt(attempt, FailureKind::kLaunch, message);
  }
  return std::nullopt;
}

}  // namespace rematch::collect
