// Rule: which steps of a run count as steady, the step times of a run, and whether a rank's peak stood still. A step lasts as long as on
// its slowest rank. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/stats/plateau.h"

namespace rematch::rules {

// Completed by every rank.
std::int64_t num_steps_completed(const base::AttemptRows& attempt);
// The first step that is no warm-up by construction: past the trial's warmup_steps, and past the optimizer's initialisation on every rank.
std::int64_t first_step_after_warmup(const base::AttemptRows& attempt);
std::vector<double> step_times_ns(const base::AttemptRows& attempt);
// Of the rank's lifetime peak of allocated bytes.
stats::Plateau plateau_of(const base::RankRows& rank);

}  // namespace rematch::rules
