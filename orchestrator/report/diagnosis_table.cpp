#include "orchestrator/report/diagnosis_table.h"

#include <algorithm>
#include <map>

#include "orchestrator/base/joined_text.h"
#include "orchestrator/report/cells.h"
#include "orchestrator/rules/diagnose.h"

namespace rematch::report {

namespace {

using base::Diagnosis;
using base::UnjudgedSymptom;

std::string text_of(const Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  return text == nullptr ? "" : *text;
}

std::string known_symptoms() {
  std::vector<std::string> ids;
  for (const rules::Symptom& symptom : rules::symptoms()) ids.emplace_back(symptom.id);
  return base::joined(ids);
}

// The rows of this table of the report that concern the arm; nullopt: the report has no such table.
std::optional<Table> rows_about(const ReportModel& report, const std::string& key, const std::optional<std::string>& arm) {
  const auto found = std::find_if(report.tables.begin(), report.tables.end(), [&](const Table& table) { return table.key == key; });
  if (found == report.tables.end()) return std::nullopt;
  Table table = *found;
  std::erase_if(table.rows, [&](const std::vector<Cell>& row) { return arm && !text_of(row[1]).empty() && text_of(row[1]) != *arm; });
  return table.rows.empty() ? std::nullopt : std::optional(std::move(table));
}

// One note a reason and set of symptoms, however many arms have it.
std::vector<std::string> unjudged_notes(const Table& unjudged) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> symptoms;  // by arm and reason
  for (const std::vector<Cell>& row : unjudged.rows) symptoms[{text_of(row[1]), text_of(row[2])}].push_back(text_of(row[0]));
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> arms;  // by reason and symptoms
  for (const auto& [arm_and_reason, ids] : symptoms) arms[{arm_and_reason.second, base::joined(ids)}].push_back(arm_and_reason.first);
  std::vector<std::string> notes;
  for (const auto& [reason_and_ids, names] : arms)
    notes.push_back("Not judged of " + base::joined(names) + ", because " + reason_and_ids.first + ": " + reason_and_ids.second + ".");
  return notes;
}

}  // namespace

Table diagnosis_table(const std::vector<Diagnosis>& diagnoses) {
  const std::vector<ColumnOf<Diagnosis>> columns = {
      {{"symptom", "symptom"}, [](const Diagnosis& d) { return text_cell(d.symptom); }},
      {{"modules", "modules"}, [](const Diagnosis& d) { return text_cell(d.arm); }},
      {{"finding", ""}, [](const Diagnosis& d) { return text_cell(d.finding); }},
      {{"why", "Why"}, [](const Diagnosis& d) { return text_cell(d.why); }},
      {{"ruled_out", "Ruled out"}, [](const Diagnosis& d) { return Cell{(d.ruled_out.empty() ? "nothing" : d.ruled_out) + "."}; }},
      {{"next_step", "Next"}, [](const Diagnosis& d) { return text_cell(d.next_step); }},
      {{"command", "Type"}, [](const Diagnosis& d) { return text_cell(d.command); }},
  };
  Table table = table_of("diagnoses", "Diagnosis", columns, diagnoses);
  table.as_list = true;
  return table;
}

Table unjudged_table(const std::vector<UnjudgedSymptom>& unjudged) {
  const std::vector<ColumnOf<UnjudgedSymptom>> columns = {
      {{"symptom", "symptom"}, [](const UnjudgedSymptom& u) { return text_cell(u.symptom); }},
      {{"modules", "modules"}, [](const UnjudgedSymptom& u) { return text_cell(u.arm); }},
      {{"reason", "reason"}, [](const UnjudgedSymptom& u) { return text_cell(u.reason); }},
  };
  Table table = table_of("unjudged_symptoms", "Symptoms not judged", columns, unjudged);
  table.place = Place::kDataOnly;
  return table;
}

ReportModel make_diagnosis_report(const ReportModel& report, const std::string& study_title, const std::optional<std::string>& arm) {
  ReportModel model;
  model.title = "Diagnosis of " + (arm ? "arm " + *arm + " in study " : std::string("study ")) + study_title;
  model.header = report.header;
  if (auto found = rows_about(report, "diagnoses", arm))
    model.tables.push_back(*std::move(found));
  else
    model.notes.push_back("No symptom shows in the numbers that were measured. Looked for: " + known_symptoms() + ".");
  if (auto unjudged = rows_about(report, "unjudged_symptoms", arm)) {
    for (std::string& note : unjudged_notes(*unjudged)) model.notes.push_back(std::move(note));
    model.tables.push_back(*std::move(unjudged));
  } else if (!model.notes.empty()) {
    model.notes.emplace_back("Each of them could be judged.");
  }
  return model;
}

}  // namespace rematch::report
