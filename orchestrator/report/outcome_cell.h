// The outcome of a run or an arm in a report: of a prediction it says so, since nothing passed. Pure.
#pragma once

#include "orchestrator/base/predicted.h"
#include "orchestrator/base/verdicts.h"
#include "orchestrator/report/cells.h"

namespace rematch::report {

// "pass"; of a predicted study "predicted pass". An arm that was not run has no kind.
inline Cell outcome_cell(base::Outcome outcome, const base::StudyPlan& plan) {
  const bool has_ended = outcome == base::Outcome::kPass || outcome == base::Outcome::kFail || outcome == base::Outcome::kBorderline;
  const std::string name(to_string(outcome));
  return has_ended && base::is_predicted(plan) ? "predicted " + name : name;
}

}  // namespace rematch::report
