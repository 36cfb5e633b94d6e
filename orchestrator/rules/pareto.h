// Rule: an arm is in the Pareto set of its group when no other has at most its hot rank's peak and at most its step time, and less of one.
// Pure.
#pragma once

#include <vector>

#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

// Fills in is_pareto. Only arms that pass and have a step time can be in it; those of two provenances are not compared.
void mark_pareto(std::vector<base::ArmVerdict>& arms);

}  // namespace rematch::rules
