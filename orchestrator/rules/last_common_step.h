// Rule: a failed arm may be set against the control at the last step that both completed, "after step k, not a pass", and nowhere else.
// Pure.
#pragma once

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

// By the largest lifetime peak of any rank at that step. `step` is nullopt when no step is common: not comparable.
base::FailedComparison compare_at_last_common_step(const base::AttemptRows& attempt, const base::AttemptRows& control);

}  // namespace rematch::rules
