// Hot ranks and failures that are on another rank than in the arm that theirs is set against: both ranks, in both arms. Pure.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/verdicts.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

// Two rows a move; no rows when nothing moved to another rank.
Table moved_table(const base::StudyPlan& plan, const std::vector<base::ArmVerdict>& arms);

}  // namespace rematch::report
