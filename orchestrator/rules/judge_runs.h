// Each attempt of a study -> its outcome: what it says alone, then whether its losses are the reference's. Pure.
#pragma once

#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

// One verdict an attempt, in the order of study.attempts. Losses of attempts in another setting are compared with nothing.
std::vector<base::RunVerdict> judge_runs(const base::StudyRows& study, const std::vector<base::Unmatched>& unmatched);

// The attempts that count: of each trial of `arm` the last conclusive one, as indices into study.attempts.
std::vector<std::size_t> judged_attempts(const base::StudyRows& study, const std::string& arm);

}  // namespace rematch::rules
