// Rule: what each arm is set against. Passing arms against the control, or when it does not fit against the narrowest passing arm, marked
// as reference; failed arms against the control at the last common step; failures against the control's failure. Pure.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

// The arm that effects are given against in this group; nullptr when nothing of it passes.
const base::ArmVerdict* find_reference(const base::StudyPlan& plan, const std::vector<base::ArmVerdict>& arms, const std::string& group_id);

// Fills in effect, hot_rank_moved, not_comparable, failed_comparison and moved of every arm. `arms` stand in the order of study.plan.arms.
void compare_arms(const base::StudyRows& study, std::vector<base::ArmVerdict>& arms);

}  // namespace rematch::rules
