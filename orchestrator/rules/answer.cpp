#include "orchestrator/rules/answer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "orchestrator/base/predicted.h"
#include "orchestrator/rules/conclusion.h"
#include "orchestrator/rules/narrowness.h"

namespace rematch::rules {

namespace {

using base::ArmVerdict;

double step_time(const ArmVerdict& arm) { return arm.figures->median_step_time_ns.value_or(std::numeric_limits<double>::infinity()); }

// Step times up to this one are not told apart from the quickest.
double longest_equal_time(double quickest, const std::vector<base::ControlPair>& control_pairs) {
  if (control_pairs.empty()) return std::numeric_limits<double>::infinity();
  double noise = 0;
  for (const auto& pair : control_pairs) noise = std::max(noise, std::abs(pair.time_difference_fraction));
  return quickest * (1 + noise);
}

struct Choice {
  const std::vector<base::ArmRow>& rows;  // in the order of `arms`
  const std::vector<ArmVerdict>& arms;
  const std::vector<base::ControlPair>& control_pairs;

  template <typename Wanted>
  const ArmVerdict* cheapest(Wanted wanted) const {
    double quickest = std::numeric_limits<double>::infinity();
    for (const ArmVerdict& arm : arms)
      if (wanted(arm)) quickest = std::min(quickest, step_time(arm));
    const double limit = longest_equal_time(quickest, control_pairs);
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < arms.size(); ++i) {
      if (!wanted(arms[i]) || step_time(arms[i]) > limit) continue;
      if (!best || width_of(rows[i].recompute) < width_of(rows[*best].recompute)) best = i;
    }
    return best ? &arms[*best] : nullptr;
  }
};

// What is said of settings that pass; of a prediction nothing passed.
struct Words {
  std::string scope;     // "passes on every rank"
  std::string that_fit;  // "settings that fit"
  std::string none;
};

Words words_of(const base::StudyPlan& plan) {
  const bool has_budget = plan.budget_per_rank_bytes.has_value();
  if (base::is_predicted(plan))
    return {has_budget ? "is predicted to meet the budget on every rank" : "is predicted to complete on every rank",
            "settings that are predicted to fit",
            has_budget ? "no setting is predicted to complete within the budget" : "no setting is predicted to complete"};
  return {has_budget ? "meets the budget on every rank" : "passes on every rank", "settings that fit",
          has_budget ? "no measured setting passes within the budget" : "no measured setting passes"};
}

std::string reason_of_choice(const base::StudyPlan& plan, const std::vector<base::ControlPair>& control_pairs) {
  const Words words = words_of(plan);
  if (base::is_predicted(plan)) return "of the " + words.that_fit + ", the narrowest (estimates of time decide nothing): it " + words.scope;
  if (control_pairs.empty())
    return "of the " + words.that_fit + ", the narrowest (no A/A difference was measured, so times decide nothing): it " + words.scope;
  return "of the " + words.that_fit + ", the narrowest of those whose time the A/A difference does not set apart from the quickest: it " +
         words.scope;
}

base::Answer answer_with(const base::StudyPlan& plan, const ArmVerdict& arm, std::string reason) {
  base::Answer answer;
  answer.arm = arm.arm;
  answer.reason = std::move(reason);
  if (plan.budget_per_rank_bytes) answer.margin_bytes = *plan.budget_per_rank_bytes - arm.figures->hot.allocated_bytes;
  return answer;
}

}  // namespace

base::Answer find_answer(const base::StudyRows& study, const std::vector<ArmVerdict>& arms,
                         const std::vector<base::ControlPair>& control_pairs) {
  const base::StudyPlan& plan = study.plan;
  const Choice choice{plan.arms, arms, control_pairs};
  const Words words = words_of(plan);
  for (const ArmVerdict& control : arms) {
    if (!control.is_control || !meets_budget(plan, control)) continue;
    base::Answer answer = answer_with(plan, control, "the control " + words.scope + ": no recompute is needed");
    auto lowers_peak = [&](const ArmVerdict& arm) {
      return arm.outcome == base::Outcome::kPass && arm.effect && arm.effect->peak_delta_fraction.value_or(0) <= -plan.smallest_effect;
    };
    if (const ArmVerdict* boundary = choice.cheapest(lowers_peak)) answer.headroom_arm = boundary->arm;
    return answer;
  }
  auto meets = [&](const ArmVerdict& arm) { return meets_budget(plan, arm); };
  if (const ArmVerdict* best = choice.cheapest(meets)) return answer_with(plan, *best, reason_of_choice(plan, control_pairs));
  base::Answer none;
  none.reason = words.none;
  return none;
}

}  // namespace rematch::rules
