// A report model as a JSON document, and back: how a report is kept for the next time it is asked for. Pure.
#pragma once

#include <optional>
#include <string>

#include "orchestrator/report/report_model.h"

namespace rematch::report {

std::string model_text(const ReportModel& model);
// nullopt of anything that model_text() did not write.
std::optional<ReportModel> parse_model(const std::string& text);

}  // namespace rematch::report
