// Rule: what a study as a whole comes to, and so the exit code. The control comes first, then candidates that ended in an unexpected way,
// then the budget. Running out of memory is a data point. Pure.
#pragma once

#include <string>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

struct Concluded {
  base::Conclusion conclusion = base::Conclusion::kUsable;
  std::string reason;  // empty when usable and complete
};

// `verdict` with its runs, arms and counts filled in.
Concluded conclude(const base::StudyRows& study, const base::StudyVerdict& verdict);

// Passes on every judged run and stays within the budget, if there is one.
bool meets_budget(const base::StudyPlan& plan, const base::ArmVerdict& arm);

}  // namespace rematch::rules
