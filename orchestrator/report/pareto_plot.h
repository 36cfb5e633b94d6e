// Peak against step time: what a saving costs. Pure.
#pragma once

#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

// One a group and provenance that has figures; of a prediction its estimates in place of times.
std::vector<Plot> pareto_plots(const base::StudyRows& study, const base::StudyVerdict& verdict);

}  // namespace rematch::report
