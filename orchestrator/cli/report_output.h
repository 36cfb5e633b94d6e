// The options of verbs that print a report model, and the printing: -f FORMAT, --json, -o FILE, --units.
#pragma once

#include <string>

#include "orchestrator/cli/verb.h"
#include "orchestrator/report/report_model.h"
#include "orchestrator/store/store.h"

namespace rematch::cli {

struct ReportOutput {
  std::string format = "md";
  std::string file = "-";    // "-" is stdout
  std::string units = "GB";  // of bytes in what people read
  bool as_json = false;
};

void declare_report_output(CLI::App& app, ReportOutput& output);

// Plots are most of a kept report: they are read for a format that draws them only.
store::Store::ReportPlots plots_for(const ReportOutput& output);

// A file appears whole or not at all. kEnvironment when it cannot be written.
Exit write_report(const report::ReportModel& model, const ReportOutput& output, Streams streams);

}  // namespace rematch::cli
