// Rule: a candidate that runs out of memory later than the control did, or at another place (stage, step, phase), moved the failure. It is
// evidence, never a pass. Failures of other kinds are not compared. Pure.
#pragma once

#include <optional>

#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

// "warm of step 1, forward"
std::string place_of(const base::Failure& failure);

std::optional<base::MovedFailure> moved_failure(const base::Failure& control, const base::Failure& candidate);

}  // namespace rematch::rules
