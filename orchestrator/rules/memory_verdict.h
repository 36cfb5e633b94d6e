// Rule: the word on an arm's memory, from the hot ranks' peaks of its passing runs and of those of the arm that it is set against. Repeats
// that agree to the byte need no interval. Otherwise the interval is that of the difference of the mean peaks by Student's t, with the
// variance pooled over the two arms and 95 % for all arms of the group together (Bonferroni), widened to hold the difference that is shown:
// lower or higher when it excludes 0, equal when it lies inside what a peak may grow in steady state, else undecided. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

using Peaks = std::vector<std::int64_t>;  // bytes, one a run

// `shown_delta_bytes` as in the effect. `num_compared`: arms of the group that are set against the same one, at least 1. Neither list is
// empty.
base::MemoryVerdict judge_memory(const Peaks& arm, const Peaks& reference, std::int64_t shown_delta_bytes, std::int64_t num_compared);

// Fills in effect->memory of every arm with an effect; of a prediction nothing.
void compare_memory(const base::StudyRows& study, base::StudyVerdict& verdict);

}  // namespace rematch::rules
