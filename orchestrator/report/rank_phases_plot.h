// Each rank's peak by phase: which rank is hot, and where its peak is. Pure.
#pragma once

#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

// One an arm that has figures or failed, of the run that its peaks are of.
std::vector<Plot> rank_phases_plots(const base::StudyRows& study, const base::StudyVerdict& verdict);

}  // namespace rematch::report
