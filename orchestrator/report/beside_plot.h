// Peaks of a study beside those of another provenance, arm by arm: a twin's, and published ones. Pure.
#pragma once

#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

// None of what there is nothing to set beside. A series is a provenance, and named by it.
std::vector<Plot> beside_plots(const base::StudyRows& study, const Beside& beside);

}  // namespace rematch::report
