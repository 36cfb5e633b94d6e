// What a strategy decided and why, and what pairs of labels do beyond the sum of their labels. Pure.
#pragma once

#include "orchestrator/base/verdicts.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

// In the order in which they were taken; no rows of a study that had nothing to decide. In csv too.
Table decisions_table(const base::StudyPlan& plan);
Table interactions_table(const base::StudyVerdict& verdict);

}  // namespace rematch::report
