// Rule: a candidate that fails later than the control, or at another stage, moved the failure. It is evidence, never a pass. Pure.
#pragma once

#include <optional>

#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

std::optional<base::MovedFailure> moved_failure(const base::Failure& control, const base::Failure& candidate);

}  // namespace rematch::rules
