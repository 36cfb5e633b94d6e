// The symptoms that a study shows, and what to do about each; a report of nothing else. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orchestrator/report/report_model.h"

namespace rematch::report {

Table diagnosis_table(const std::vector<base::Diagnosis>& diagnoses);
// Symptoms that could not be looked for, an arm and symptom a row; for programs, and for what a report of an arm says of it later.
Table unjudged_table(const std::vector<base::UnjudgedSymptom>& unjudged);

// Of the whole study, or of what concerns one arm: its own symptoms and those of the study. `report` is the study's (make_report).
ReportModel make_diagnosis_report(const ReportModel& report, const std::string& study_title, const std::optional<std::string>& arm);

}  // namespace rematch::report
