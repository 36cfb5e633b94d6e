// The report of a golden study, with what it has beside itself. Pure.
#pragma once

#include "orchestrator/report/report_model.h"
#include "orchestrator/rules/judge.h"
#include "tests/orchestrator/report/golden_studies.h"

namespace rematch::report {

inline ReportModel model_of(const tests::GoldenStudy& golden) {
  Beside beside;
  beside.published = golden.published ? &*golden.published : nullptr;
  beside.twin = golden.twin ? &*golden.twin : nullptr;
  return make_report(golden.study, rules::judge_study(golden.study), beside);
}

}  // namespace rematch::report
