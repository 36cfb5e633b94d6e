// Rule: the answer is the passing setting with the least measured step time that meets the budget; when the control meets it, the answer
// is the control, with the first boundary to take if more headroom is wanted. Not the longest list. Pure.
#pragma once

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

base::Answer find_answer(const base::StudyRows& study, const std::vector<base::ArmVerdict>& arms);

}  // namespace rematch::rules
