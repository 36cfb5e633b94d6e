// The report of a study is kept in the database, so that asking again does not judge every trial again. It holds for one build of this
// program and one set of rows; a report that depends on other studies (of a prediction), or that refuses a comparison,
// is not kept.
#pragma once

#include <optional>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"
#include "orchestrator/report/report_model.h"
#include "orchestrator/rules/gate_figures.h"
#include "orchestrator/store/store.h"

namespace rematch::cli {

struct KeptReport {
  report::ReportModel model;
  int conclusion = 0;  // exit code of `rematch run`
  rules::GateFigures gate_figures;
};

// The report that was kept; nullopt: none is kept of this study.
std::optional<report::ReportModel> keep_report(store::Store& store, const base::StudyRows& study, const base::StudyVerdict& verdict);
// nullopt: none was kept, or another build's.
std::optional<KeptReport> find_kept_report(const store::Store& store, const std::string& study_id,
                                           store::Store::ReportPlots plots = store::Store::ReportPlots::kLeft);
// The same, of a study that was carried out by this very plan, every trial done. Looks for done.json of every trial in the workspace.
std::optional<KeptReport> find_finished_report(const std::filesystem::path& workspace, const base::StudyPlan& plan);

}  // namespace rematch::cli
