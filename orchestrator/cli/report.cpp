// `rematch report [STUDY]`: the study's table and answer.
#include <CLI/CLI.hpp>

#include "orchestrator/cli/report_output.h"
#include "orchestrator/cli/study_input.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/rules/judge.h"

namespace rematch::cli {

namespace {

class ReportVerb final : public Verb {
 public:
  std::string name() const override { return "report"; }
  std::string summary() const override { return "Print the table and the answer of a study"; }

  void declare(CLI::App& app) override {
    app.add_option("study", study_, "Name or id of the study, or the beginning of either; not needed when there is one only");
    declare_report_output(app, output_);
    app.footer(
        "Examples:\n"
        "  rematch report\n"
        "  rematch report first --units GiB\n"
        "  rematch report first -f csv -o first.csv\n"
        "Exit: 0 printed (what the study came to stands in the report), 2 no such study, 8 no database, or a file that cannot be written.");
  }

  Exit run(const GlobalOptions& options, Streams streams) override {
    const auto loaded = load_study(study_, options, streams);
    if (const Exit* exit = std::get_if<Exit>(&loaded)) return *exit;
    const auto& study = std::get<base::StudyRows>(loaded);
    return write_report(report::make_report(study, rules::judge_study(study)), output_, streams);
  }

 private:
  std::string study_;
  ReportOutput output_;
};

const VerbRegistrar<ReportVerb> registrar;

}  // namespace

}  // namespace rematch::cli
