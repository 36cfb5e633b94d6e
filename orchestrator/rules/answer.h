// Rule: the answer is the passing setting with the least measured step time that meets the budget; when the control meets it, the answer
// is the control, with the first boundary to take if more headroom is wanted. Not the longest list, and not the luckiest run: among
// settings whose times lie within the A/A difference of the quickest, the narrowest is taken. Pure.
#pragma once

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

// arms are in the plan's order. Without control pairs nothing is known of the noise, and times decide nothing.
base::Answer find_answer(const base::StudyRows& study, const std::vector<base::ArmVerdict>& arms,
                         const std::vector<base::ControlPair>& control_pairs);

}  // namespace rematch::rules
