#include "orchestrator/cli/kept_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "orchestrator/base/predicted.h"
#include "orchestrator/base/study_plan.h"
#include "orchestrator/engine/study_folder.h"
#include "orchestrator/report/model_document.h"
#include "probes/host/build_id.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

namespace {

// Its trials are told by their ids, which are many times shorter.
std::string text_without_trials(const base::StudyPlan& plan) {
  base::StudyPlan head = plan;
  head.trials.clear();
  return base::to_json(head).dump();
}

bool has_the_trials_of(const store::Store& store, const base::StudyPlan& plan) {
  const std::vector<std::string> stored = store.trial_ids(plan.study_id);
  return stored.size() == plan.trials.size() && std::equal(stored.begin(), stored.end(), plan.trials.begin(),
                                                           [](const auto& id, const auto& trial) { return id == trial.trial_id; });
}

}  // namespace

std::optional<report::ReportModel> keep_report(store::Store& store, const base::StudyRows& study, const base::StudyVerdict& verdict) {
  const std::optional<std::string> build = probes::program_build_id();
  if (!build || base::is_predicted(study.plan) || !verdict.unmatched.empty()) return std::nullopt;
  report::ReportModel model = report::make_report(study, verdict);
  store.put_report(study.plan.study_id,
                   {*build, text_without_trials(study.plan), report::model_text(model), base::exit_code(verdict.conclusion),
                    report::plots_text(model.plots), rules::gate_figures_text(rules::gate_figures(verdict))});
  return model;
}

std::optional<KeptReport> find_kept_report(const store::Store& store, const std::string& study_id, store::Store::ReportPlots plots) {
  const std::optional<store::StoredReport> stored = store.report(study_id, plots);
  if (!stored || stored->build_id != probes::program_build_id()) return std::nullopt;
  std::optional<report::ReportModel> model = report::parse_model(stored->model);
  if (!model) return std::nullopt;
  if (plots == store::Store::ReportPlots::kRead) {
    std::optional<std::vector<report::Plot>> pictures = report::parse_plots(stored->plots);
    if (!pictures) return std::nullopt;
    model->plots = *std::move(pictures);
  }
  std::optional<rules::GateFigures> figures = rules::parse_gate_figures(stored->gate_figures);
  if (!figures) return std::nullopt;
  return KeptReport{*std::move(model), static_cast<int>(stored->conclusion), *std::move(figures)};
}

std::optional<KeptReport> find_finished_report(const std::filesystem::path& workspace, const base::StudyPlan& plan) {
  if (base::awaits_decision(plan)) return std::nullopt;  // where its strategy ends is not known yet
  const protocol::WorkspacePaths paths{workspace};
  if (!std::filesystem::exists(paths.database())) return std::nullopt;
  const base::Result<store::Store> opened = store::Store::open(paths.database());
  if (!opened) return std::nullopt;  // whoever writes says why
  const store::Store& store = opened.value();
  const std::optional<store::StoredReport> stored = store.report(plan.study_id);
  if (!stored || stored->plan != text_without_trials(plan) || !has_the_trials_of(store, plan)) return std::nullopt;
  const engine::StudyFolder folder(paths.study(plan.name, plan.study_id));
  if (folder.num_marked_done(store.attempt_keys(plan.study_id)) != static_cast<std::int64_t>(plan.trials.size())) return std::nullopt;
  return find_kept_report(store, plan.study_id);
}

}  // namespace rematch::cli
