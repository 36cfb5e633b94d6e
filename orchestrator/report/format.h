// The report formats by name. One file a format in formats/, each registers itself. Pure: a model in, text out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/base/number_text.h"
#include "orchestrator/base/result.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

inline constexpr int kReportSchemaVersion = 1;

using base::ByteUnits;  // for text; csv and json hold bytes

using RenderFunction = std::string (*)(const ReportModel& model, ByteUnits units);

struct FormatRegistrar {
  FormatRegistrar(std::string_view name, RenderFunction render);
};

std::vector<std::string> format_names();  // sorted
// An unknown format is an error that names the known ones.
base::Result<std::string> render(const ReportModel& model, std::string_view format, ByteUnits units = ByteUnits::kGB);

}  // namespace rematch::report
