// `rematch show TRIAL|ARM`: everything that is known of one trial, or of the runs of one arm.
#include <CLI/CLI.hpp>
#include <ostream>

#include "orchestrator/cli/report_output.h"
#include "orchestrator/cli/study_input.h"
#include "orchestrator/cli/uncollected.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/rules/judge.h"

namespace rematch::cli {

namespace {

class ShowVerb final : public Verb {
 public:
  std::string name() const override { return "show"; }
  std::string summary() const override { return "Show one trial or arm: settings, ranks, phases, stages, failure, replay command"; }

  void declare(CLI::App& app) override {
    app.add_option("trial_or_arm", trial_or_arm_, "An arm by name ('[]' is the control), or a trial by id or the beginning of it")
        ->required();
    app.add_option("--study", study_, "Name or id of the study, or the beginning of either; not needed when there is one only");
    declare_report_output(app, output_);
    app.footer(
        "Examples:\n"
        "  rematch show moe_act\n"
        "  rematch show '[]' --study first\n"
        "  rematch show 3f9a12 --json\n"
        "Exit: 0 printed, 2 no such study, arm or trial, 8 no database, or a file that cannot be written.");
  }

  Exit run(const GlobalOptions& options, Streams streams) override {
    const auto loaded = load_study(study_, options, streams);
    if (const Exit* exit = std::get_if<Exit>(&loaded)) return *exit;
    const auto& study = std::get<base::StudyRows>(loaded);
    tell_of_uncollected(options.workspace, study.plan.study_id, streams.err);
    const auto model = report::make_detail_report(study, rules::judge_study(study), trial_or_arm_);
    if (!model) {
      streams.err << "rematch: " << model.error().message << "\n";
      return Exit::kUsage;
    }
    return write_report(model.value(), output_, streams);
  }

 private:
  std::string trial_or_arm_;
  std::string study_;
  ReportOutput output_;
};

const VerbRegistrar<ShowVerb> registrar;

}  // namespace

}  // namespace rematch::cli
