// Rule: what may be said of step times. The fit of a group's runs (stats/block_fit.h, of the logarithms of their step times) gives each arm
// a simultaneous interval against the group's reference: equal when it lies inside +-smallest effect, else faster or slower when it
// excludes 0, else undecided, with the number of blocks that would decide it. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"
#include "orchestrator/stats/block_fit.h"

namespace rematch::rules {

// At each look of `blocks: auto` a third of the error rate is spent (Bonferroni), and the first look that decides an arm decides it for
// good. Of all intervals of one look together: 0.95, of one look of several 1 - 0.05 / 3.
double confidence_of_look(const base::StudyPlan& plan);

// Of an interval of ratio - 1; `smallest_effect` is a fraction.
base::TimeWord time_word(double low, double high, double smallest_effect);

struct JudgedTimes {
  base::TimeFit fit;
  std::vector<base::TimeVerdict> arms;            // one of design.compared_arms() each, without blocks_needed
  std::vector<stats::ArmDifference> differences;  // the same as logarithms
};

// `step_times_ns`: one of the design's runs each, > 0. `smallest_effect` is a fraction. The design has no refusal.
JudgedTimes judge_times(const stats::BlockDesign& design, std::span<const double> step_times_ns, double smallest_effect);

// Fills in fit and no_fit of every group, and effect->time of every arm. Runs, arms and the groups' references have been judged.
void compare_times(const base::StudyRows& study, base::StudyVerdict& verdict);

}  // namespace rematch::rules
