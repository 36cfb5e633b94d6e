#include "orchestrator/rules/compare_arms.h"

#include <algorithm>

#include "orchestrator/rules/effect.h"
#include "orchestrator/rules/hot_rank_moved.h"
#include "orchestrator/rules/judge_runs.h"
#include "orchestrator/rules/last_common_step.h"
#include "orchestrator/rules/moved_failure.h"
#include "orchestrator/rules/narrowness.h"
#include "orchestrator/rules/rank_peak.h"

namespace rematch::rules {

namespace {

using base::ArmVerdict;
using base::AttemptRows;

const ArmVerdict* control_of(const std::vector<ArmVerdict>& arms, const std::string& group_id) {
  auto found = std::find_if(arms.begin(), arms.end(), [&](const ArmVerdict& arm) { return arm.is_control && arm.group_id == group_id; });
  return found == arms.end() ? nullptr : &*found;
}

void compare_passing(const base::StudyPlan& plan, const ArmVerdict& reference, ArmVerdict& arm) {
  if (!arm.figures || &arm == &reference) return;
  if (arm.provenance != reference.provenance) {
    arm.not_comparable = "its figures are of another provenance than those of " + reference.arm;
  } else {
    arm.effect = effect_of(arm, reference);
    arm.hot_rank_moved = hot_rank_moved(arm, reference, plan.trials.front());  // a group has one layout
  }
}

// The first judged run that failed, whose failure is the arm's; nullptr when there is none.
const AttemptRows* failed_attempt(const base::StudyRows& study, const std::string& arm) {
  for (std::size_t index : judged_attempts(study, arm))
    if (study.attempts[index].failure) return &study.attempts[index];
  return nullptr;
}

std::optional<base::MovedFailure> moved_from_control(const base::StudyRows& study, const ArmVerdict& control, const ArmVerdict& arm) {
  if (!arm.failure || !control.failure) return std::nullopt;
  const AttemptRows* from = failed_attempt(study, control.arm);
  const AttemptRows* to = failed_attempt(study, arm.arm);
  if (from == nullptr || to == nullptr) return std::nullopt;
  return moved_failure({control.arm, *from->failure, peaks_of_ranks(*from)}, {arm.arm, *to->failure, peaks_of_ranks(*to)}, to->trial);
}

void compare_failed(const base::StudyRows& study, const ArmVerdict& control, ArmVerdict& arm) {
  if (arm.outcome != base::Outcome::kFail || arm.is_control) return;
  arm.moved = moved_from_control(study, control, arm);
  const auto arm_runs = judged_attempts(study, arm.arm);
  const auto control_runs = judged_attempts(study, control.arm);
  arm.failed_comparison = base::FailedComparison{};
  if (!control_runs.empty() && control.outcome != base::Outcome::kInvalid)
    arm.failed_comparison = compare_at_last_common_step(study.attempts[arm_runs.front()], study.attempts[control_runs.front()]);
}

}  // namespace

const ArmVerdict* find_reference(const base::StudyPlan& plan, const std::vector<ArmVerdict>& arms, const std::string& group_id) {
  const ArmVerdict* control = control_of(arms, group_id);
  if (control != nullptr && control->figures) return control;
  const ArmVerdict* narrowest = nullptr;
  Width narrowest_width;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const Width width = width_of(plan.arms[i].recompute);
    if (arms[i].group_id != group_id) continue;
    if (arms[i].outcome != base::Outcome::kPass || (narrowest != nullptr && !(width < narrowest_width))) continue;
    narrowest = &arms[i];
    narrowest_width = width;
  }
  return narrowest;
}

void compare_arms(const base::StudyRows& study, std::vector<ArmVerdict>& arms) {
  for (ArmVerdict& arm : arms) {
    if (const ArmVerdict* reference = find_reference(study.plan, arms, arm.group_id)) compare_passing(study.plan, *reference, arm);
    if (const ArmVerdict* control = control_of(arms, arm.group_id)) compare_failed(study, *control, arm);
  }
}

}  // namespace rematch::rules
