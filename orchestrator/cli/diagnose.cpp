// `rematch diagnose [STUDY|ARM|TRIAL]`: the symptoms that the numbers show, and what to do next.
#include <CLI/CLI.hpp>
#include <optional>
#include <ostream>

#include "orchestrator/cli/kept_report.h"
#include "orchestrator/cli/report_output.h"
#include "orchestrator/cli/study_input.h"
#include "orchestrator/cli/subject_place.h"
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
                   "A study by name or id, an arm by name, or a trial by id, or the beginning of an id; not needed of the only study");
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
    if (study_.empty() || subject_.empty()) {
      const auto whole = store.find_study(study_.empty() ? subject_ : study_);
      if (whole) return print(store, whole.value().study_id, std::nullopt, options, streams);
      if (subject_.empty()) {
        streams.err << "rematch: " << whole.error().message << "\n";
        return Exit::kUsage;
      }
    }
    const auto found = find_subject_place(store, subject_, study_, streams);
    if (const Exit* exit = std::get_if<Exit>(&found)) return *exit;
    const auto& place = std::get<SubjectPlace>(found);
    return print(store, place.plan.study_id, place.subject.arm, options, streams);
  }

 private:
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
