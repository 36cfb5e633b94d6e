// The runs of one arm -> the arm's outcome and figures. Repeats that differ make it borderline. Pure.
#pragma once

#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

// `runs` as judge_runs gave them. Comparisons with other arms are left to the caller.
base::ArmVerdict judge_arm(const base::StudyRows& study, const std::vector<base::RunVerdict>& runs, const base::ArmRow& arm);

}  // namespace rematch::rules
