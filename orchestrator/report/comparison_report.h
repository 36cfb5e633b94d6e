// Sides set against each other, wherever they are from, or why they may not be. Pure.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/report/report_model.h"
#include "orchestrator/rules/compare_sides.h"

namespace rematch::report {

// Two arms or trials: figures of both, and their differences where they are compared.
ReportModel make_comparison_report(const rules::SideComparison& pair);

// Two studies, arm by arm.
struct ComparedStudies {
  std::string name;  // with what tells it from the other
  std::string against_name;
  std::vector<rules::SideComparison> arms;  // that both have
  std::vector<std::string> only_own;        // arms
  std::vector<std::string> only_against;
};
ReportModel make_studies_report(const ComparedStudies& studies);

// "+3.10 % [+1.90 %, +4.30 %] slower", "+3.10 %, no interval: 1 against 1 run".
std::string time_text(const rules::SideComparison& pair);

}  // namespace rematch::report
