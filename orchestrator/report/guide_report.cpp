#include "orchestrator/report/guide_report.h"

#include <algorithm>
#include <cctype>

#include "orchestrator/base/model_text.h"
#include "orchestrator/report/cells.h"
#include "orchestrator/report/command_facts.h"
#include "orchestrator/report/guide_tables.h"
#include "orchestrator/report/study_facts.h"
#include "orchestrator/rules/published_setting.h"

namespace rematch::report {

namespace {

std::string degree(const char* name, std::int64_t value) { return std::string(", ") + name + "=" + std::to_string(value); }

std::string upper_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// What the guide says above its tables.
std::string caption_text(const base::StudyRows& study) {
  if (study.plan.trials.empty()) return "";
  const protocol::Trial& trial = study.plan.trials.front();
  const protocol::ParallelSpec& layout = trial.parallel;
  const std::string precision = upper_case(rules::precision_of(trial));
  const std::string device = distinct_of_ranks(study.attempts, [](const protocol::HelloRecord& hello) { return hello.device_name; });
  const std::string provenance = distinct_of_ranks(
      study.attempts, [](const protocol::HelloRecord& hello) { return std::string(protocol::to_string(hello.provenance)); });
  return base::model_text(trial.model) + ", " + precision + ", attention " + trial.backend.attention + "; Megatron Core " +
         trial.recompute.core_revision + "; sequence " + std::to_string(trial.training.seq_length) +
         degree("MBS", trial.training.micro_batch_size) + degree("GBS", trial.training.global_batch_size) +
         degree("TP", layout.tensor_model_parallel_size) + degree("PP", layout.pipeline_model_parallel_size) +
         degree("CP", layout.context_parallel_size) + degree("EP", layout.expert_model_parallel_size) + "; " +
         std::to_string(layout.world_size) + " x " + (device.empty() ? trial.backend.device : device) +
         (provenance.empty() ? "" : ", " + provenance) + "; " + std::to_string(trial.training.train_iters) + " iterations";
}

// Without memory, which is what the capacity table is about; of a control that ended otherwise its result says how.
bool control_does_not_fit(const base::StudyVerdict& verdict, const ArmGroup& group) {
  return std::any_of(verdict.arms.begin(), verdict.arms.end(), [&](const base::ArmVerdict& arm) {
    return arm.is_control && arm.group_id == group.group->group_id && arm.outcome == base::Outcome::kFail && arm.failure &&
           arm.failure->kind == protocol::FailureKind::kOom;
  });
}

std::string too_short(const base::StudyPlan& plan, const std::string& wanted) {
  return "No step time and no TFLOP/s/GPU: runs of " + std::to_string(plan.trials.front().training.train_iters) +
         " iterations are too short for the mean over " + wanted + ".";
}

void add_matched_notes(const base::StudyRows& study, const ArmGroup& group, std::vector<std::string>& notes) {
  notes.push_back("Peak allocated: the largest value over data-parallel-rank-0 ranks after iteration " +
                  std::to_string(rules::kGuidePeakIteration) + ", over all runs of the arm.");
  if (group.provenance == protocol::Provenance::kPredicted) return;
  if (study.plan.trials.front().training.train_iters < static_cast<std::int64_t>(rules::kGuideWindow.end))
    notes.push_back(too_short(study.plan, iterations_text(rules::kGuideWindow)));
  else
    notes.push_back("Step time and TFLOP/s/GPU: means over " + iterations_text(rules::kGuideWindow) + ", the median over an arm's runs.");
}

void add_capacity_notes(const base::StudyRows& study, const ArmGroup& group, std::vector<std::string>& notes) {
  notes.push_back("Failed rows are set against the control's rank 0 after the last iteration that both completed, and are no passes; " +
                  std::string("passing rows against the narrowest that passes: reference, not control."));
  if (group.provenance != protocol::Provenance::kPredicted && !capacity_window(study.plan))
    notes.push_back(too_short(study.plan, iterations_text(rules::kShortGuideWindow)));
}

void add_group(const base::StudyRows& study, const base::StudyVerdict& verdict, const ArmGroup& group, ReportModel& model) {
  const GuideContext context{study, verdict, group};
  const bool is_capacity = control_does_not_fit(verdict, group);
  model.tables.push_back(is_capacity ? guide_capacity_table(context) : guide_matched_table(context));
  std::vector<std::string> notes;
  if (is_capacity)
    add_capacity_notes(study, group, notes);
  else
    add_matched_notes(study, group, notes);
  for (const base::ArmVerdict* arm : group.arms)
    if (!is_capacity && !arm->figures && !arm->reason.empty()) notes.push_back(guide_modules(context, *arm) + ": " + arm->reason);
  for (std::string& note : notes)
    if (std::find(model.notes.begin(), model.notes.end(), note) == model.notes.end()) model.notes.push_back(std::move(note));
}

}  // namespace

ReportModel make_guide_report(const base::StudyRows& study, const base::StudyVerdict& verdict) {
  ReportModel model;
  model.title = "Study " + study_title(study.plan) + " in the form of the recompute guide";
  model.header = {{"caption", "setting", text_cell(caption_text(study))}};
  for (Fact& fact : study_facts(study, verdict)) model.header.push_back(std::move(fact));
  for (Fact& fact : command_facts(study.plan, "--style guide")) model.header.push_back(std::move(fact));
  if (!study.plan.trials.empty())
    for (const ArmGroup& group : arm_groups(verdict)) add_group(study, verdict, group, model);
  model.notes.insert(model.notes.end(), verdict.notes.begin(), verdict.notes.end());
  return model;
}

}  // namespace rematch::report
