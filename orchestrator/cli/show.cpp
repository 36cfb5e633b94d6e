// `rematch show TRIAL|ARM`: everything that is known of one trial, or of the runs of one arm.
#include <CLI/CLI.hpp>
#include <ostream>

#include "orchestrator/cli/kept_report.h"
#include "orchestrator/cli/report_output.h"
#include "orchestrator/cli/study_input.h"
#include "orchestrator/cli/subject_place.h"
#include "orchestrator/cli/uncollected.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/report/detail.h"
#include "orchestrator/report/verdict_line_tables.h"
#include "orchestrator/rules/judge.h"

namespace rematch::cli {

namespace {

class ShowVerb final : public Verb {
 public:
  std::string name() const override { return "show"; }
  std::string summary() const override {
    return "Show one trial or arm: its verdict in words, settings, ranks, phases, stages, failure, replay command";
  }

  void declare(CLI::App& app) override {
    app.add_option("trial_or_arm", trial_or_arm_, "An arm by name ('[]' is the control), or a trial by id or the beginning of it")
        ->required();
    app.add_option("--study", study_, "Name or id of the study, or the beginning of either; not needed where one study has it");
    declare_report_output(app, output_);
    app.footer(
        "Examples:\n"
        "  rematch show moe_act\n"
        "  rematch show '[]' --study first\n"
        "  rematch show 3f9a12 --json\n"
        "Begins with the verdict in words: each condition of a pass, memory, time and failure with the numbers, and what to type next.\n"
        "Of an arm that was not run, why, and what would run it.\n"
        "Exit: 0 printed, 2 no such study, arm or trial, 8 no database, or a file that cannot be written.");
  }

  Exit run(const GlobalOptions& options, Streams streams) override {
    const auto opened = open_store(options, streams);
    if (const Exit* exit = std::get_if<Exit>(&opened)) return *exit;
    const auto& store = std::get<store::Store>(opened);
    const auto found = find_subject_place(store, trial_or_arm_, study_, streams);
    if (const Exit* exit = std::get_if<Exit>(&found)) return *exit;
    const auto& place = std::get<SubjectPlace>(found);
    tell_of_uncollected(options.workspace, place.plan.study_id, streams.err);
    const auto kept = find_kept_report(store, place.plan.study_id);
    return write_report(kept ? by_kept_report(store, place, kept->model) : by_judging(store, place), output_, streams);
  }

 private:
  static report::ReportModel by_judging(const store::Store& store, const SubjectPlace& place) {
    const base::StudyRows study = store.load_study(place.plan.study_id).value();
    return report::make_detail_report(study, rules::judge_study(study), place.subject.name()).value();
  }

  // Reads the subject's rows and no others.
  static report::ReportModel by_kept_report(const store::Store& store, const SubjectPlace& place, const report::ReportModel& kept) {
    const std::string& study_id = place.plan.study_id;
    report::Detail detail;
    detail.subject = place.subject;
    const bool is_arm = place.subject.trial_id.empty();
    detail.runs =
        store.load_runs(study_id, is_arm ? store::TrialChoice{{place.subject.arm}, {}} : store::TrialChoice{{}, {place.subject.trial_id}});
    const auto telling = report::telling_run(detail.runs);
    if (telling) detail.shown_run = &detail.runs[*telling];
    const base::StudyRows rows =
        store.load_attempts(study_id, {{}, telling ? std::vector{detail.shown_run->trial_id} : std::vector<std::string>{}});
    detail.plan = &rows.plan;
    for (const base::AttemptRows& attempt : rows.attempts)
      if (detail.shown_run != nullptr && attempt.attempt == detail.shown_run->attempt) detail.shown = &attempt;
    for (const report::Table& table : kept.tables) {
      if (table.key == "arm_verdicts") detail.arm_lines = report::lines_of_arm(table, place.subject.arm);
      if (table.key == "moved_ranks") detail.moved = report::rows_of_arm(table, place.subject.arm);
    }
    return report::make_detail_model(detail);
  }

  std::string trial_or_arm_;
  std::string study_;
  ReportOutput output_;
};

const VerbRegistrar<ShowVerb> registrar;

}  // namespace

}  // namespace rematch::cli
