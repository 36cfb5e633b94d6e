// The runs of one arm -> the arm's outcome and figures. Repeats that differ make it borderline. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

// `runs` as judge_runs gave them. Comparisons with other arms are left to the caller.
base::ArmVerdict judge_arm(const base::StudyRows& study, const std::vector<base::RunVerdict>& runs, const base::ArmRow& arm);

// The attempts that an arm's figures are made of, as indices into study.attempts and runs.
std::vector<std::size_t> passing_attempts(const base::StudyRows& study, const std::vector<base::RunVerdict>& runs, const std::string& arm);
// The one attempt that an arm's peaks are of: with figures the passing one with the largest peak, of a failed arm the first judged one that
// failed, whose failure is the arm's. nullopt: neither.
std::optional<std::size_t> attempt_of_peaks(const base::StudyRows& study, const std::vector<base::RunVerdict>& runs,
                                            const base::ArmVerdict& arm);

}  // namespace rematch::rules
