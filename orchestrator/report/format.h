// The report formats by name. One file a format in formats/, each registers itself. Pure: a model in, text out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/base/result.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

inline constexpr int kReportSchemaVersion = 1;

// Of formats that people read; csv and json hold bytes.
enum class ByteUnits { kGB, kGiB };

using RenderFunction = std::string (*)(const ReportModel& model, ByteUnits units);

enum class FormatPlots { kLeftOut, kDrawn };

struct FormatRegistrar {
  FormatRegistrar(std::string_view name, RenderFunction render, FormatPlots plots = FormatPlots::kLeftOut);
};

std::vector<std::string> format_names();  // sorted
// Whether the model's plots make a difference; false of an unknown format.
bool draws_plots(std::string_view format);
// An unknown format is an error that names the known ones.
base::Result<std::string> render(const ReportModel& model, std::string_view format, ByteUnits units = ByteUnits::kGB);

}  // namespace rematch::report
