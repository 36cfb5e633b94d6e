#include "orchestrator/cli/report_output.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>
#include <string_view>
#include <utility>

#include "orchestrator/base/shell_text.h"
#include "orchestrator/cli/output_file.h"
#include "orchestrator/report/format.h"
#include "probes/host/build_id.h"

namespace rematch::cli {

namespace {

// With the version and build of this program among its facts.
report::ReportModel with_program(report::ReportModel model) {
  const std::string build = probes::program_build_id().value_or("");
  report::Fact program{"rematch", "rematch", REMATCH_VERSION + (build.empty() ? "" : ", build " + build)};
  const auto trainer = std::find_if(model.header.begin(), model.header.end(), [](const auto& fact) { return fact.key == "trainer_build"; });
  model.header.insert(trainer, std::move(program));
  return model;
}

}  // namespace

void declare_report_output(CLI::App& app, ReportOutput& output) {
  CLI::Option* format = app.add_option("-f,--format", output.format, "Of the report; without it by the extension of -o, else md")
                            ->check(CLI::IsMember(report::accepted_format_names()));
  app.add_flag("--json", output.as_json, "The same as --format json")->excludes(format);
  app.add_option("-o,--output", output.file, "File to write; - is stdout")->capture_default_str();
  app.add_option("--units", output.units, "Of bytes in md, html and latex; csv, json and jsonl hold bytes")
      ->check(CLI::IsMember({"GB", "GiB"}))
      ->capture_default_str();
}

std::variant<std::string, Exit> format_of(const ReportOutput& output, Streams streams) {
  if (output.as_json) return std::string("json");
  if (!output.format.empty()) return output.format;
  if (output.file == "-") return std::string("md");
  const base::Result<std::string> by_extension = report::format_of_file(output.file);
  if (by_extension) return by_extension.value();
  streams.err << "rematch: -o " << output.file << ": " << by_extension.error().message << "\n";
  return Exit::kUsage;
}

report::ReportModel with_workspace(report::ReportModel model, const GlobalOptions& options) {
  if (options.workspace == GlobalOptions{}.workspace) return model;
  constexpr std::string_view kProgram = "rematch ";
  for (report::Fact& fact : model.header) {
    if (fact.key != "run_command" && fact.key != "report_command") continue;
    if (auto* command = std::get_if<std::string>(&fact.value); command != nullptr && command->starts_with(kProgram))
      command->insert(kProgram.size(), "--workspace " + base::shell_quoted(options.workspace.string()) + " ");
  }
  return model;
}

std::string report_text(report::ReportModel model, const std::string& format, const GlobalOptions& options) {
  return report::render(with_program(with_workspace(std::move(model), options)), format).value();
}

store::Store::ReportPlots plots_for(const std::string& format) {
  return report::draws_plots(format) ? store::Store::ReportPlots::kRead : store::Store::ReportPlots::kLeft;
}

Exit write_report(report::ReportModel model, const ReportOutput& output, Streams streams) {
  const report::ByteUnits units = output.units == "GiB" ? report::ByteUnits::kGiB : report::ByteUnits::kGB;
  const auto format = format_of(output, streams);
  if (const Exit* exit = std::get_if<Exit>(&format)) return *exit;
  const std::string text = report::render(with_program(std::move(model)), std::get<std::string>(format), units).value();
  return write_output(text, output.file, streams);
}

}  // namespace rematch::cli
