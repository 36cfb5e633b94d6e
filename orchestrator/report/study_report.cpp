#include "orchestrator/report/arm_tables.h"
#include "orchestrator/report/attribution_tables.h"
#include "orchestrator/report/command_facts.h"
#include "orchestrator/report/decision_tables.h"
#include "orchestrator/report/diagnosis_table.h"
#include "orchestrator/report/moved_table.h"
#include "orchestrator/report/plots.h"
#include "orchestrator/report/prediction_tables.h"
#include "orchestrator/report/published_tables.h"
#include "orchestrator/report/report_model.h"
#include "orchestrator/report/study_facts.h"
#include "orchestrator/report/twin_tables.h"
#include "orchestrator/report/unmatched_table.h"
#include "orchestrator/report/verdict_line_tables.h"
#include "orchestrator/rules/compare_published.h"
#include "orchestrator/rules/provenance.h"

namespace rematch::report {

namespace {

void append(std::vector<Table> more, std::vector<Table>& tables) {
  for (Table& table : more)
    if (!table.rows.empty()) tables.push_back(std::move(table));
}

// What each label can take away of the control's peak at most orders the arms of a predicted study before anything is measured.
void add_upper_bounds(const base::StudyRows& study, ReportModel& model) {
  if (rules::provenance_of(study) != protocol::Provenance::kPredicted) return;
  for (const base::ArmRow& arm : study.plan.arms) {
    const base::AttemptRows* control = arm.is_control ? rules::compared_attempt(study, arm.arm) : nullptr;
    if (control == nullptr) continue;
    append(control_upper_bounds(*control), model.tables);
    if (const auto note = attribution_note(*control)) model.notes.push_back(base::with_id(note->id, "control: " + note->text));
    return;
  }
}

void add_published(const base::StudyRows& study, const protocol::Published& published, ReportModel& model) {
  ReportPart part = published_report(study, published);
  append(std::move(part.tables), model.tables);
  for (std::string& note : part.notes) model.notes.push_back(std::move(note));
}

}  // namespace

ReportModel make_report(const base::StudyRows& study, const base::StudyVerdict& verdict, const Beside& beside) {
  ReportModel model;
  model.title = "Study " + study_title(study.plan);
  model.header = study_facts(study, verdict);
  for (Fact& fact : command_facts(study.plan)) model.header.push_back(std::move(fact));
  model.tables = arm_tables(study, verdict);
  append({arm_lines_table(study.plan, verdict)}, model.tables);
  append({moved_table(study.plan, verdict.arms), failed_arms_table(study, verdict), reasons_table(study, verdict)}, model.tables);
  append({unmatched_table(verdict.unmatched)}, model.tables);
  append(control_pairs_tables(verdict), model.tables);
  append({time_fits_table(verdict), interactions_table(verdict), decisions_table(study.plan)}, model.tables);
  append({diagnosis_table(verdict.diagnoses), unjudged_table(verdict.unjudged)}, model.tables);
  append(prediction_tables(study.plan), model.tables);
  model.answer = answer_facts(study, verdict);
  model.notes = verdict.notes;
  add_upper_bounds(study, model);
  if (beside.published != nullptr) add_published(study, *beside.published, model);
  if (beside.twin != nullptr) append(twin_tables(study, *beside.twin), model.tables);
  model.plots = make_plots(study, verdict, beside);
  return model;
}

}  // namespace rematch::report
