// Rule: a candidate that runs out of memory later than the control did, at another place (stage, step, phase), or on another rank, moved
// the failure. It is evidence, never a pass. Failures of other kinds are not compared. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/verdicts.h"
#include "schemas/protocol/trial.h"

namespace rematch::rules {

// "warm of step 1, forward"
std::string place_of(const base::Failure& failure);

// One failed run: where it failed, and the peaks of its ranks as far as each got.
struct FailedRun {
  std::string arm;
  const base::Failure& failure;
  std::vector<base::RankPeak> rank_peaks;
};

std::optional<base::MovedFailure> moved_failure(const FailedRun& control, const FailedRun& candidate, const protocol::Trial& trial);

// "The failure moved from ... to ... ." and whether it got further.
std::string moved_failure_text(const base::MovedFailure& moved);
// "960 bytes and asked for 64"
std::string request_text(const base::Failure& failure);
// The evidence of both ranks; they differ.
std::string moved_ranks_text(const std::string& arm, const base::MovedFailure& moved);

}  // namespace rematch::rules
