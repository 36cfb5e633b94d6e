// Rule: the two controls of a block differ in nothing, so the difference of their step times is what the machine adds by itself: the A/A
// difference. Ratios of arms are read beside it. Pure.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

// Of each block in which two controls passed: the later over the earlier.
std::vector<base::ControlPair> control_pairs(const std::vector<base::RunVerdict>& runs, const std::string& control_arm);

}  // namespace rematch::rules
