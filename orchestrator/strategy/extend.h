// What a study does next: the results so far -> the plan with the next trials, its decisions with their reasons, and the arms' status.
// Called by the engine whenever every planned trial is done. Pure: the same results give the same plan, whatever was decided before, so
// that a controller that was killed and starts again comes to the same trials.
#pragma once

#include <optional>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::strategy {

// `so_far` holds attempts of planned trials alone, `verdict` is judge_study's of it. nullopt: the study is at its end. A plan that is
// returned has more trials, or has come to its end (base::awaits_decision).
std::optional<base::StudyPlan> extend(const base::StudyRows& so_far, const base::StudyVerdict& verdict);

}  // namespace rematch::strategy
