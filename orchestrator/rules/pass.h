// Rule: what keeps an attempt from being a pass, the comparison of losses aside (see loss_match.h). Pure.
// Identifiers: record_complete, optimizer_init, steady_steps, finite, no_skipped_step, peak_plateau; of a prediction record_complete and
// all_steps alone.
#pragma once

#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

// Empty when all conditions are met. The attempt's failure is not looked at.
std::vector<base::Shortfall> pass_shortfalls(const base::AttemptRows& attempt);

}  // namespace rematch::rules
