// Step times over a study, arm by arm: where warm-up ends, whether blocks differ, how noisy a run is. Pure.
#pragma once

#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

// One an arm that has step times, of its passing runs.
std::vector<Plot> step_times_plots(const base::StudyRows& study, const base::StudyVerdict& verdict);

}  // namespace rematch::report
