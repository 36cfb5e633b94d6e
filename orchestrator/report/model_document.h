// A report model as a JSON document, and back: how a report is kept for the next time it is asked for. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orchestrator/report/report_model.h"

namespace rematch::report {

// All but the plots, which are kept apart.
std::string model_text(const ReportModel& model);
// nullopt of anything that model_text() did not write.
std::optional<ReportModel> parse_model(const std::string& text);

std::string plots_text(const std::vector<Plot>& plots);
std::optional<std::vector<Plot>> parse_plots(const std::string& text);  // as parse_model

}  // namespace rematch::report
