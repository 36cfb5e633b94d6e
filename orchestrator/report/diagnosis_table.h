// The symptoms that a study shows, and what to do about each; a report of nothing else. Pure.
#pragma once

#include <optional>
#include <string>

#include "orchestrator/report/report_model.h"

namespace rematch::report {

Table diagnosis_table(const std::vector<base::Diagnosis>& diagnoses);

// Of the whole study, or of what concerns one arm: its own symptoms and those of the study.
ReportModel make_diagnosis_report(const base::StudyRows& study, const base::StudyVerdict& verdict, const std::optional<std::string>& arm);

}  // namespace rematch::report
