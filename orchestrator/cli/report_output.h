// The options of verbs that print a report model, and the printing: -f FORMAT, --json, -o FILE, --units.
#pragma once

#include <string>
#include <variant>

#include "orchestrator/cli/verb.h"
#include "orchestrator/report/report_model.h"
#include "orchestrator/store/store.h"

namespace rematch::cli {

struct ReportOutput {
  std::string format;        // empty: by the extension of `file`, else md
  std::string file = "-";    // "-" is stdout
  std::string units = "GB";  // of bytes in what people read
  bool as_json = false;
};

void declare_report_output(CLI::App& app, ReportOutput& output);

// Plots are most of a kept report: they are read for a format that draws them only.
store::Store::ReportPlots plots_for(const std::string& format);

// The format that is meant; kUsage, and why on streams.err, when the extension of the file is none of a format.
std::variant<std::string, Exit> format_of(const ReportOutput& output, Streams streams);

// With --workspace in the commands among its facts, where it is not the default.
report::ReportModel with_workspace(report::ReportModel model, const GlobalOptions& options);

// As `run` prints it: with this program's version and build and the workspace among its facts, bytes in GB.
std::string report_text(report::ReportModel model, const std::string& format, const GlobalOptions& options);

// With the program. A file appears whole or not at all. kUsage as format_of; kEnvironment when the file cannot be written.
Exit write_report(report::ReportModel model, const ReportOutput& output, Streams streams);

}  // namespace rematch::cli
