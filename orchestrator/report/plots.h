// The plots of a study's report, as values: reports/METRICS.md, "Plots", says what each shows and how it is thinned. Called by make_report.
// No arm without figures has a point, and two provenances or groups never share a plot but where they are set beside each other. Pure.
#pragma once

#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

// In the order in which a report shows them. None of a study without figures.
std::vector<Plot> make_plots(const base::StudyRows& study, const base::StudyVerdict& verdict, const Beside& beside);

}  // namespace rematch::report
