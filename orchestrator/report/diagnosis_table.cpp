#include "orchestrator/report/diagnosis_table.h"

#include <algorithm>

#include "orchestrator/report/cells.h"
#include "orchestrator/report/study_facts.h"
#include "orchestrator/rules/diagnose.h"

namespace rematch::report {

namespace {

using base::Diagnosis;

std::string known_symptoms() {
  std::string text;
  for (const rules::Symptom& symptom : rules::symptoms()) text += (text.empty() ? "" : ", ") + std::string(symptom.id);
  return text;
}

}  // namespace

Table diagnosis_table(const std::vector<Diagnosis>& diagnoses) {
  const std::vector<ColumnOf<Diagnosis>> columns = {
      {{"symptom", "symptom"}, [](const Diagnosis& d) { return text_cell(d.symptom); }},
      {{"modules", "modules"}, [](const Diagnosis& d) { return text_cell(d.arm); }},
      {{"finding", ""}, [](const Diagnosis& d) { return text_cell(d.finding); }},
      {{"next_step", "Next"}, [](const Diagnosis& d) { return text_cell(d.next_step); }},
  };
  Table table = table_of("diagnoses", "Diagnosis", columns, diagnoses);
  table.as_list = true;
  return table;
}

ReportModel make_diagnosis_report(const base::StudyRows& study, const base::StudyVerdict& verdict, const std::optional<std::string>& arm) {
  ReportModel model;
  model.title = "Diagnosis of " + (arm ? "arm " + *arm + " in study " : std::string("study ")) + study_title(study.plan);
  model.header = study_facts(study, verdict);
  std::vector<Diagnosis> shown;
  std::copy_if(verdict.diagnoses.begin(), verdict.diagnoses.end(), std::back_inserter(shown),
               [&](const Diagnosis& d) { return !arm || d.arm.empty() || d.arm == *arm; });
  if (shown.empty())
    model.notes.push_back("No symptom shows in the numbers that were measured. Looked for: " + known_symptoms() + ".");
  else
    model.tables.push_back(diagnosis_table(shown));
  return model;
}

}  // namespace rematch::report
