// The figures of an HTML report. Pure.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/report/format.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

// A figure a plot, with its caption. Of one kind of which there are many (one an arm, say) all are folded away together,
// and so is one that is high.
std::string html_plots(const std::vector<Plot>& plots, ByteUnits units);

}  // namespace rematch::report
