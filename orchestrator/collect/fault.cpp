#include "orchestrator/collect/fault.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

#include "orchestrator/base/joined_text.h"

namespace rematch::collect {

namespace {

using protocol::FailureKind;

Standing standing_of(FailureKind kind) {
  if (kind == FailureKind::kInterrupted) return Standing::kWasToldToEnd;
  return kind == FailureKind::kComm ? Standing::kLostPeers : Standing::kCause;
}

Fault fault_at(const base::RankRows& rank, FailureKind kind, std::int64_t mono_ns, const std::string& message) {
  return {&rank, standing_of(kind), kind, mono_ns, message};
}

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

bool names_another(const protocol::ErrorRecord& error, std::int64_t rank) { return error.failed_rank && *error.failed_rank != rank; }

// That it was told to stop is no failure of a rank's own when the supervisor told it.
std::optional<Fault> fault_by_record(const base::RankRows& rank) {
  if (rank.oom) return fault_at(rank, FailureKind::kOom, rank.oom->mono_ns, rank.oom->message);
  for (const protocol::ErrorRecord& error : rank.errors) {
    if (error.kind == FailureKind::kInterrupted && rank.exit.ended_by_supervisor) continue;
    Fault fault = fault_at(rank, error.kind, error.mono_ns, error.message);
    if (names_another(error, rank.rank)) fault.standing = Standing::kLostPeers;
    return fault;
  }
  return std::nullopt;
}

std::optional<Fault> fault_by_exit(const base::RankRows& rank) {
  const protocol::RankExit& exit = rank.exit;
  if (exit.signal) {
    std::string message = "ended by " + signal_name(*exit.signal);
    if (*exit.signal == SIGKILL) message += ", which the supervisor did not send; there is no evidence of the kernel's memory killer";
    return fault_at(rank, FailureKind::kCrashed, exit.end_mono_ns, message);
  }
  if (!exit.exit_code) return fault_at(rank, FailureKind::kLaunch, exit.end_mono_ns, "the rank was never started");
  if (*exit.exit_code != 0)
    return fault_at(rank, kind_of_exit(*exit.exit_code), exit.end_mono_ns, "exit code " + std::to_string(*exit.exit_code));
  if (!rank.bye) return fault_at(rank, FailureKind::kBadExit, exit.end_mono_ns, "exit code 0 without its last record line (bye)");
  if (!rank.record_complete)
    return fault_at(rank, FailureKind::kBadExit, exit.end_mono_ns,
                    "exit code 0 with a damaged record: " + base::joined(rank.record_problems, "; "));
  return std::nullopt;
}

bool is_victim(const base::RankRows& rank) {
  return std::any_of(rank.errors.begin(), rank.errors.end(), [&](const auto& error) { return names_another(error, rank.rank); });
}

// A rank that its peers name, and that names no other: what it did itself says more than they do; when it did nothing, it hung.
std::optional<Fault> fault_of_accused(const base::RankRows& rank, std::optional<Fault> own, const Accusation& accusation) {
  if (own) {
    own->standing = Standing::kCause;
    own->mono_ns = std::min(own->mono_ns, accusation.mono_ns);
    if (rank.errors.empty() && !rank.oom) own->message += "; its peers: " + accusation.message;
    return own;
  }
  const bool ended_well = rank.exit.exit_code == 0 && rank.bye;
  if (ended_well) return std::nullopt;
  return Fault{&rank, Standing::kCause, FailureKind::kTimeout, accusation.mono_ns, accusation.message};
}

// A rank that the supervisor ended is a victim, unless it had recorded a failure of its own before.
std::optional<Fault> own_fault_of(const base::RankRows& rank) {
  if (auto fault = fault_by_record(rank)) return fault;
  if (rank.exit.ended_by_supervisor) return std::nullopt;
  return fault_by_exit(rank);
}

}  // namespace

Accusations accusations(const std::vector<base::RankRows>& ranks) {
  Accusations all;
  for (const base::RankRows& rank : ranks)
    for (const protocol::ErrorRecord& error : rank.errors) {
      if (!names_another(error, rank.rank)) continue;
      const auto [place, is_first_word] = all.try_emplace(*error.failed_rank, Accusation{error.mono_ns, error.message});
      if (!is_first_word && error.mono_ns < place->second.mono_ns) place->second = {error.mono_ns, error.message};
    }
  return all;
}

std::optional<Fault> fault_of(const base::RankRows& rank, const Accusations& accusations) {
  auto own = own_fault_of(rank);
  const auto accusation = accusations.find(rank.rank);
  if (accusation == accusations.end() || is_victim(rank)) return own;
  return fault_of_accused(rank, std::move(own), accusation->second);
}

}  // namespace rematch::collect
