#include "orchestrator/rules/moved_failure.h"

#include <tuple>

#include "orchestrator/base/number_text.h"
#include "orchestrator/rules/moved_rank.h"

namespace rematch::rules {

namespace {

// Phases are numbered in the order in which a step goes through them.
auto progress_of(const base::Failure& failure) { return std::tuple(failure.step.value_or(-1), failure.stage, failure.phase); }

}  // namespace

std::string place_of(const base::Failure& failure) {
  std::string text(protocol::to_string(failure.stage));
  if (failure.step) text += " of step " + std::to_string(*failure.step);
  if (failure.phase) text += ", " + std::string(protocol::to_string(*failure.phase));
  return text;
}

std::optional<base::MovedFailure> moved_failure(const FailedRun& control, const FailedRun& candidate, const protocol::Trial& trial) {
  const base::Failure& from = control.failure;
  const base::Failure& to = candidate.failure;
  if (from.kind != protocol::FailureKind::kOom || to.kind != protocol::FailureKind::kOom) return std::nullopt;
  if (progress_of(to) == progress_of(from) && to.rank == from.rank) return std::nullopt;
  const auto in_both = [&](std::int64_t rank) { return rank_in_both_arms(trial, rank, control.rank_peaks, candidate.rank_peaks); };
  return base::MovedFailure{control.arm, from, to, progress_of(to) > progress_of(from), in_both(from.rank), in_both(to.rank)};
}

std::string moved_failure_text(const base::MovedFailure& moved) {
  const auto place = [](const base::Failure& failure, const base::RankInBothArms& rank) {
    return place_of(failure) + ", on " + name_of(rank);
  };
  return "The failure moved from " + place(moved.from, moved.from_rank) + " to " + place(moved.to, moved.to_rank) + "." +
         (moved.got_further ? " It got further than the control and is no pass." : " It failed no later than the control.");
}

std::string request_text(const base::Failure& failure) {
  const auto number = [](const std::optional<std::int64_t>& bytes) { return bytes ? base::bytes_text(*bytes) : std::string("-"); };
  return number(failure.allocated_bytes) + " and asked for " + number(failure.requested_bytes);
}

std::string moved_ranks_text(const std::string& arm, const base::MovedFailure& moved) {
  std::string text = "Rank " + std::to_string(moved.from.rank) + " held " + request_text(moved.from) + ", rank " +
                     std::to_string(moved.to.rank) + " held " + request_text(moved.to) + "; " +
                     peaks_text(moved.from_rank, moved.against, arm) + ", " + peaks_text(moved.to_rank, moved.against, arm) + ".";
  if (is_other_stage(moved.from_rank, moved.to_rank)) text += " Another pipeline stage does not fit now.";
  return text;
}

}  // namespace rematch::rules
