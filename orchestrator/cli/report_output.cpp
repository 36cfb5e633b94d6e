#include "orchestrator/cli/report_output.h"

#include <CLI/CLI.hpp>

#include "orchestrator/cli/output_file.h"
#include "orchestrator/report/format.h"

namespace rematch::cli {

void declare_report_output(CLI::App& app, ReportOutput& output) {
  app.add_option("-f,--format", output.format, "Of the report")->check(CLI::IsMember(report::format_names()))->capture_default_str();
  app.add_flag("--json", output.as_json, "The same as --format json");
  app.add_option("-o,--output", output.file, "File to write; - is stdout")->capture_default_str();
  app.add_option("--units", output.units, "Of bytes in md; csv and json hold bytes")
      ->check(CLI::IsMember({"GB", "GiB"}))
      ->capture_default_str();
}

Exit write_report(const report::ReportModel& model, const ReportOutput& output, Streams streams) {
  const report::ByteUnits units = output.units == "GiB" ? report::ByteUnits::kGiB : report::ByteUnits::kGB;
  const std::string text = report::render(model, output.as_json ? "json" : output.format, units).value();
  return write_output(text, output.file, streams);
}

}  // namespace rematch::cli
