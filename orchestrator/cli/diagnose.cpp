// `rematch diagnose [STUDY|ARM|TRIAL]`: the symptoms that the numbers show, and what to do next.
#include <CLI/CLI.hpp>
#include <ostream>
#include <sstream>

#include "orchestrator/cli/report_output.h"
#include "orchestrator/cli/study_input.h"
#include "orchestrator/cli/subject_input.h"
#include "orchestrator/cli/uncollected.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/report/diagnosis_table.h"
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
    std::ostringstream why_no_study;
    const auto whole = study_.empty() ? load_study(subject_, options, {streams.out, why_no_study}) : Exit::kUsage;
    if (const auto* study = std::get_if<base::StudyRows>(&whole)) return print(*study, std::nullopt, options, streams);
    if (subject_.empty() && study_.empty()) {
      streams.err << why_no_study.str();
      return std::get<Exit>(whole);
    }
    const auto loaded = load_subject(subject_, study_, options, streams);
    if (const Exit* exit = std::get_if<Exit>(&loaded)) return *exit;
    const auto& subject = std::get<Subject>(loaded);
    return print(subject.study, subject.arm, options, streams);
  }

 private:
  Exit print(const base::StudyRows& study, const std::optional<std::string>& arm, const GlobalOptions& options, Streams streams) const {
    tell_of_uncollected(options.workspace, study.plan.study_id, streams.err);
    return write_report(report::make_diagnosis_report(study, rules::judge_study(study), arm), output_, streams);
  }

  std::string subject_;
  std::string study_;
  ReportOutput output_;
};

const VerbRegistrar<DiagnoseVerb> registrar;

}  // namespace

}  // namespace rematch::cli
