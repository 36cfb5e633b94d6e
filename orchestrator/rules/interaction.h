// Rule: boundaries that overlap or nest do not add up. What a pair of labels does beyond the sum of its labels alone, each against the
// controls of its own blocks. reports/METRICS.md, "Interaction". Pure.
#pragma once

#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

// Of every arm of two labels whose labels ran alone, in the plan's order; `verdict` with runs and arms. An arm without a passing run, or
// without a passing control in its blocks, gives none.
std::vector<base::Interaction> find_interactions(const base::StudyPlan& plan, const base::StudyVerdict& verdict);

}  // namespace rematch::rules
