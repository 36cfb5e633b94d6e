// `rematch diagnose [STUDY|ARM|TRIAL]`: the symptoms that the numbers show, and what to do next.
#include <CLI/CLI.hpp>
#include <optional>
#include <ostream>

#include "orchestrator/cli/comparison_input.h"
#include "orchestrator/cli/kept_report.h"
#include "orchestrator/cli/report_output.h"
#include "orchestrator/cli/study_input.h"
#include "orchestrator/cli/uncollected.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/report/diagnosis_table.h"
#include "orchestrator/report/study_facts.h"
#include "orchestrator/rules/judge.h"

namespace rematch::cli {

namespace {

class DiagnoseVerb final : public Verb {
 public:
  std::string name() const override { return "diagnose"; }
  std::string summary() const override {
    return "Say which symptoms a study, an arm or a trial shows, by which numbers, and what to do next";
  }

  void declare(CLI::App& app) override {
    app.add_option("subject", subject_,
                   "A study by name or id, else an arm by its whole name, else the beginning of a study's name or of an id; not needed of "
                   "the only study");
    app.add_option("--study", study_, "Study of the arm or trial");
    declare_report_output(app, output_);
    app.footer(
        "Examples:\n"
        "  rematch diagnose\n"
        "  rematch diagnose capacity --json\n"
        "  rematch diagnose moe_act --study capacity\n"
        "Exit: 0 printed, 2 no such study, arm or trial, 8 no database, or a file that cannot be written.");
  }

  Exit run(const GlobalOptions& options, Streams streams) override {
    const auto opened = open_store(options, streams);
    if (const Exit* exit = std::get_if<Exit>(&opened)) return *exit;
    const auto& store = std::get<store::Store>(opened);
    if (subject_.empty()) {
      const auto whole = store.find_study(study_);
      if (!whole) return refuse(whole.error().message, streams);
      return print(store, whole.value().study_id, std::nullopt, options, streams);
    }
    const auto found = find_compared(store, subject_, study_);
    if (!found) return refuse(found.error().message, streams);
    const bool is_study = found.value().kind == ComparedKind::kStudy;
    return print(store, found.value().study_id, is_study ? std::nullopt : std::optional(found.value().arm), options, streams);
  }

 private:
  static Exit refuse(const std::string& message, Streams streams) {
    streams.err << "rematch: " << message << "\n";
    return Exit::kUsage;
  }

  Exit print(const store::Store& store, const std::string& study_id, const std::optional<std::string>& arm, const GlobalOptions& options,
             Streams streams) const {
    tell_of_uncollected(options.workspace, study_id, streams.err);
    if (const auto kept = find_kept_report(store, study_id))
      return write_report(report::make_diagnosis_report(kept->model, store.load_plan_head(study_id).name, arm), output_, streams);
    const base::StudyRows study = store.load_study(study_id).value();
    const report::ReportModel whole = report::make_report(study, rules::judge_study(study));
    return write_report(report::make_diagnosis_report(whole, report::study_title(study.plan), arm), output_, streams);
  }

  std::string subject_;
  std::string study_;
  ReportOutput output_;
};

const VerbRegistrar<DiagnoseVerb> registrar;

}  // namespace

}  // namespace rematch::cli
