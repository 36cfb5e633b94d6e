// What the peaks of the arms are made of, beside each other. Pure.
#pragma once

#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

// One a group and provenance of arms with figures, one of arms that ran out of memory. A bar is as high as the arm's cell: its peak
// allocated, or what was allocated at the failure. An arm of which that was not measured has no bar.
std::vector<Plot> attribution_plots(const base::StudyRows& study, const base::StudyVerdict& verdict);

}  // namespace rematch::report
