#include "orchestrator/rules/answer.h"

#include <limits>

#include "orchestrator/rules/conclusion.h"

namespace rematch::rules {

namespace {

using base::ArmVerdict;

double step_time(const ArmVerdict& arm) { return arm.figures->median_step_time_ns.value_or(std::numeric_limits<double>::infinity()); }

template <typename Wanted>
const ArmVerdict* quickest(const std::vector<ArmVerdict>& arms, Wanted wanted) {
  const ArmVerdict* best = nullptr;
  for (const ArmVerdict& arm : arms)
    if (wanted(arm) && (best == nullptr || step_time(arm) < step_time(*best))) best = &arm;
  return best;
}

base::Answer answer_with(const base::StudyPlan& plan, const ArmVerdict& arm, std::string reason) {
  base::Answer answer;
  answer.arm = arm.arm;
  answer.reason = std::move(reason);
  if (plan.budget_per_rank_bytes) answer.margin_bytes = *plan.budget_per_rank_bytes - arm.figures->hot.allocated_bytes;
  return answer;
}

}  // namespace

base::Answer find_answer(const base::StudyRows& study, const std::vector<ArmVerdict>& arms) {
  const base::StudyPlan& plan = study.plan;
  const std::string scope = plan.budget_per_rank_bytes ? "meets the budget on every rank" : "passes on every rank";
  for (const ArmVerdict& control : arms) {
    if (!control.is_control || !meets_budget(plan, control)) continue;
    base::Answer answer = answer_with(plan, control, "the control " + scope + ": no recompute is needed");
    auto lowers_peak = [&](const ArmVerdict& arm) {
      return arm.outcome == base::Outcome::kPass && arm.effect && arm.effect->peak_delta_bytes < 0;
    };
    if (const ArmVerdict* boundary = quickest(arms, lowers_peak)) answer.headroom_arm = boundary->arm;
    return answer;
  }
  auto meets = [&](const ArmVerdict& arm) { return meets_budget(plan, arm); };
  if (const ArmVerdict* best = quickest(arms, meets))
    return answer_with(plan, *best, "of the settings that fit, the one with the least median step time: it " + scope);
  base::Answer none;
  none.reason = plan.budget_per_rank_bytes ? "no measured setting passes within the budget" : "no measured setting passes";
  return none;
}

}  // namespace rematch::rules
