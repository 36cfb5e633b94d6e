#include "orchestrator/base/predicted.h"
#include "orchestrator/report/guide_tables.h"
#include "orchestrator/report/provenance_columns.h"
#include "orchestrator/rules/compare_published.h"
#include "orchestrator/rules/steady_steps.h"

namespace rematch::report {

namespace {

std::string steps_text(std::int64_t num_steps) { return std::to_string(num_steps) + (num_steps == 1 ? " step" : " steps"); }

std::string failed_text(const base::Failure& failure, std::int64_t num_iterations) {
  const bool is_oom = failure.kind == protocol::FailureKind::kOom;
  const std::string kind = is_oom ? "OOM" : std::string(protocol::to_string(failure.kind));
  if (num_iterations > 0) return kind + " after iteration " + std::to_string(num_iterations);
  return kind + (failure.stage < protocol::Stage::kFirstForward ? " before iteration 1" : " in iteration 1");
}

}  // namespace

Column guide_column(const ArmGroup& group, const std::string& key, const std::string& title, Place place) {
  if (!group.provenance) return {key, title, place};
  Column column = OwnColumns(*group.provenance).column(key, title, place);
  if (*group.provenance == protocol::Provenance::kMeasured) column.title = title;
  return column;
}

std::string guide_modules(const GuideContext& context, const base::ArmVerdict& arm) {
  const base::ArmRow* row = base::find_arm(context.study.plan, arm.arm);
  if (row == nullptr || row->recompute.recompute_granularity != "selective" || !row->recompute.recompute_modules) return arm.arm;
  std::string text;
  for (const std::string& label : *row->recompute.recompute_modules) text += (text.empty() ? "" : ", ") + label;
  return text.empty() ? "[]" : text;
}

std::string guide_result(const GuideContext& context, const base::ArmVerdict& arm) {
  const base::AttemptRows* run = rules::compared_attempt(context.study, arm.arm);
  const std::int64_t num_steps = run == nullptr ? 0 : rules::num_steps_completed(*run);
  switch (arm.outcome) {
    case base::Outcome::kPass: return "completed " + steps_text(num_steps);
    case base::Outcome::kBorderline:
      return "passed in " + std::to_string(arm.num_passed) + " of " + std::to_string(arm.num_judged) + " runs";
    case base::Outcome::kFail:
      return arm.failure ? failed_text(*arm.failure, num_steps) : "completed " + steps_text(num_steps) + ", not a pass";
    case base::Outcome::kInactive:
    case base::Outcome::kInvalid:
    case base::Outcome::kSkipped:
    case base::Outcome::kInterrupted:
    case base::Outcome::kLost:
    case base::Outcome::kNotRun: break;
  }
  return std::string(to_string(arm.outcome));
}

std::string iterations_text(rules::StepWindow window) {
  return "iterations " + std::to_string(window.begin + 1) + " to " + std::to_string(window.end);
}

std::optional<rules::StepWindow> capacity_window(const base::StudyPlan& plan) {
  const std::int64_t num_steps = plan.trials.empty() ? 0 : plan.trials.front().training.train_iters;
  for (const rules::StepWindow window : {rules::kGuideWindow, rules::kShortGuideWindow})
    if (num_steps >= static_cast<std::int64_t>(window.end)) return window;
  return std::nullopt;
}

}  // namespace rematch::report
