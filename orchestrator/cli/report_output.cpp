#include "orchestrator/cli/report_output.h"

#include <CLI/CLI.hpp>
#include <ostream>
#include <system_error>

#include "orchestrator/report/format.h"
#include "schemas/protocol/record_file.h"

namespace rematch::cli {

void declare_report_output(CLI::App& app, ReportOutput& output) {
  app.add_option("-f,--format", output.format, "Of the report")->check(CLI::IsMember(report::format_names()))->capture_default_str();
  app.add_flag("--json", output.as_json, "The same as --format json");
  app.add_option("-o,--output", output.file, "File to write; - is stdout")->capture_default_str();
  app.add_option("--units", output.units, "Of bytes in md and html; csv and json hold bytes")
      ->check(CLI::IsMember({"GB", "GiB"}))
      ->capture_default_str();
}

namespace {

std::string format_of(const ReportOutput& output) { return output.as_json ? "json" : output.format; }

}  // namespace

store::Store::ReportPlots plots_for(const ReportOutput& output) {
  return report::draws_plots(format_of(output)) ? store::Store::ReportPlots::kRead : store::Store::ReportPlots::kLeft;
}

Exit write_report(const report::ReportModel& model, const ReportOutput& output, Streams streams) {
  const report::ByteUnits units = output.units == "GiB" ? report::ByteUnits::kGiB : report::ByteUnits::kGB;
  const std::string text = report::render(model, format_of(output), units).value();
  if (output.file == "-") {
    streams.out << text;
    return Exit::kOk;
  }
  try {
    protocol::write_file_by_rename(output.file, text);
  } catch (const std::system_error& error) {
    streams.err << "rematch: the report was not written: " << error.what() << "\n";
    return Exit::kEnvironment;
  }
  return Exit::kOk;
}

}  // namespace rematch::cli
