// Two runs set against each other, wherever they are from, or why they may not be. Pure.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/report/report_model.h"

namespace rematch::report {

// An arm or a trial of a study, its first run that passed (else the first that counts), and what the rules say of that run. Borrowed.
struct ComparedSide {
  std::string name;
  const base::AttemptRows* attempt = nullptr;
  const base::RunVerdict* run = nullptr;
};

// Figures of both and their differences; with differences of fields these too, and no difference of figures unless `forced`.
enum class FieldsThatDiffer { kRefuse, kForce };
ReportModel make_comparison_report(const ComparedSide& side, const ComparedSide& against,
                                   const std::vector<base::FieldDifference>& differences, FieldsThatDiffer policy);

}  // namespace rematch::report
