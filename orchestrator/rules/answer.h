// Rule: the answer is the passing setting with the least measured step time that meets the budget; when the control meets it, the answer
// is the control, with the first boundary to take if more headroom is wanted. Not the longest list, and not the luckiest run: among
// settings whose times are not told apart from the quickest (time_noise.h), the narrowest is taken. Groups are not compared: the answer is
// of the first group in which a setting meets the budget. Pure.
#pragma once

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

// `verdict` with runs, arms (in the plan's order) and groups. Without anything known of the noise times decide nothing.
base::Answer find_answer(const base::StudyRows& study, const base::StudyVerdict& verdict);

}  // namespace rematch::rules
