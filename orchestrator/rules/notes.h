// What a reader must know beside the table, one sentence each: that it is predicted, missing trials, reference, step times that
// cannot be fitted or drift, optimizer-bound, moved
// failures, moved hot ranks, censored savings, borderline arms, repeats that differ, runs that had not settled. Pure.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

std::vector<std::string> make_notes(const base::StudyRows& study, const base::StudyVerdict& verdict);

}  // namespace rematch::rules
