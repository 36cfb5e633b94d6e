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

using base::ByteUnits;  // of formats that people read; csv, json and jsonl hold bytes

using RenderFunction = std::string (*)(const ReportModel& model, ByteUnits units);

enum class FormatPlots { kLeftOut, kDrawn };

// `extension`: of its files, without the dot; where it is not the name, the format answers to it as a name too.
struct FormatRegistrar {
  FormatRegistrar(std::string_view name, RenderFunction render, std::string_view extension, FormatPlots plots = FormatPlots::kLeftOut);
  FormatRegistrar(std::string_view name, RenderFunction render, FormatPlots plots = FormatPlots::kLeftOut)
      : FormatRegistrar(name, render, name, plots) {}
};

std::vector<std::string> format_names();  // sorted
// Names and the extensions that stand for one, sorted.
std::vector<std::string> accepted_format_names();
// Of the format that this name means, without the dot. Of an unknown one the name itself.
std::string format_extension(std::string_view format);
// The format of a file of this name by its extension, in any case. A file without one is "md". An unknown one is an error that names the
// known ones.
base::Result<std::string> format_of_file(std::string_view file_name);
// Whether the model's plots make a difference; false of an unknown format.
bool draws_plots(std::string_view format);
// An unknown format is an error that names the known ones.
base::Result<std::string> render(const ReportModel& model, std::string_view format, ByteUnits units = ByteUnits::kGB);

}  // namespace rematch::report
