// Rule: what a passing arm changes against another passing arm, in memory and time. A saving is censored when the arm's peak sits in a
// phase that no label can lower. Words on time and memory are those of time_verdicts.h and
// memory_verdict.h. Pure.
#pragma once

#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

// `reference` is the arm that `arm` is set against; both have figures.
base::Effect effect_of(const base::ArmVerdict& arm, const base::ArmVerdict& reference);

}  // namespace rematch::rules
