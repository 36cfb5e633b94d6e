#include "orchestrator/report/arm_tables.h"
#include "orchestrator/report/moved_table.h"
#include "orchestrator/report/prediction_tables.h"
#include "orchestrator/report/report_model.h"
#include "orchestrator/report/study_facts.h"

namespace rematch::report {

ReportModel make_report(const base::StudyRows& study, const base::StudyVerdict& verdict) {
  ReportModel model;
  model.title = "Study " + study.plan.name;
  model.header = study_facts(study, verdict);
  model.tables = arm_tables(study, verdict);
  for (Table& table : std::vector<Table>{moved_table(verdict.arms), failed_arms_table(study, verdict), reasons_table(study, verdict),
                                         control_pairs_table(verdict)})
    if (!table.rows.empty()) model.tables.push_back(std::move(table));
  for (Table& table : prediction_tables(study.plan)) model.tables.push_back(std::move(table));
  model.answer = answer_facts(study, verdict);
  model.notes = verdict.notes;
  return model;
}

}  // namespace rematch::report
