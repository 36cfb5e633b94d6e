#include "orchestrator/rules/answer.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "orchestrator/base/predicted.h"
#include "orchestrator/base/whole_module.h"
#include "orchestrator/rules/answer_words.h"
#include "orchestrator/rules/attribution.h"
#include "orchestrator/rules/conclusion.h"
#include "orchestrator/rules/narrowness.h"
#include "orchestrator/rules/time_noise.h"

namespace rematch::rules {

namespace {

using base::ArmRow;
using base::ArmStatus;
using base::ArmVerdict;

// Savings below this fraction of the peak count only where there is no larger one: new maxima of that size come and go with routing.
constexpr double kSmallestSaving = 0.005;

double step_time(const ArmVerdict& arm) { return arm.figures->median_step_time_ns.value_or(std::numeric_limits<double>::infinity()); }

std::int64_t peak_of(const ArmVerdict& arm) { return arm.figures->hot.allocated_bytes; }

struct Choice {
  const base::StudyPlan& plan;
  const base::StudyVerdict& verdict;
  const base::GroupVerdict& group;
  TimeNoise noise;

  bool is_here(const ArmVerdict& arm) const { return arm.group_id == group.group_id; }
  const ArmRow& row_of(const ArmVerdict& arm) const { return plan.arms[static_cast<std::size_t>(&arm - verdict.arms.data())]; }

  // Step times up to this one are not told apart from the quickest.
  template <typename Wanted>
  const ArmVerdict* cheapest(Wanted wanted) const {
    double quickest = std::numeric_limits<double>::infinity();
    for (const ArmVerdict& arm : verdict.arms)
      if (is_here(arm) && wanted(arm)) quickest = std::min(quickest, step_time(arm));
    const double limit = quickest * (1 + noise.fraction);
    const ArmVerdict* best = nullptr;
    for (const ArmVerdict& arm : verdict.arms) {
      if (!is_here(arm) || !wanted(arm) || step_time(arm) > limit) continue;
      if (best == nullptr || width_of(row_of(arm).recompute) < width_of(row_of(*best).recompute)) best = &arm;
    }
    return best;
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

std::string reason_of_choice(const Choice& choice) {
  const Words words = words_of(choice.plan);
  if (base::is_predicted(choice.plan))
    return "of the " + words.that_fit + ", the narrowest (estimates of time decide nothing): it " + words.scope;
  if (choice.noise.basis == NoiseBasis::kNone)
    return "of the " + words.that_fit + ", the narrowest (no A/A difference was measured, so times decide nothing): it " + words.scope;
  return "of the " + words.that_fit + ", the narrowest of those whose time " + std::string(to_string(choice.noise.basis)) +
         " does not set apart from the quickest: it " + words.scope;
}

// The cheapest setting that lowers the peak further; where none was measured, what a strategy would come to next.
const ArmVerdict* measured_headroom(const Choice& choice, const ArmVerdict& answer) {
  const auto saves = [&](const ArmVerdict& arm, double fraction) {
    const double at_most = static_cast<double>(peak_of(answer)) * (1 - fraction);
    return arm.outcome == base::Outcome::kPass && arm.figures && peak_of(arm) < peak_of(answer) &&
           static_cast<double>(peak_of(arm)) <= at_most;
  };
  if (const ArmVerdict* large = choice.cheapest([&](const ArmVerdict& arm) { return saves(arm, kSmallestSaving); })) return large;
  return choice.cheapest([&](const ArmVerdict& arm) { return saves(arm, 0); });
}

bool is_narrow_label(const protocol::RecomputeSpec& recompute) {
  const auto& labels = recompute.recompute_modules;
  return labels && labels->size() == 1 && !base::is_whole_module(labels->front());
}

// Of arms that never ran: after a control the narrow label that can take most away of its peak, else the next one that is wider.
const ArmRow* untried_headroom(const base::StudyRows& study, const Choice& choice, const ArmVerdict& answer) {
  const auto peak = answer.is_control ? control_attribution(study, answer.arm) : std::nullopt;
  const Width narrow = width_of(choice.row_of(answer).recompute);
  const ArmRow* best = nullptr;
  std::int64_t best_bound = -1;
  for (const ArmRow& arm : study.plan.arms) {
    const bool is_untried = arm.status == ArmStatus::kSkipped || arm.status == ArmStatus::kWaiting;
    if (!is_untried || arm.group_id != answer.group_id || !(narrow < width_of(arm.recompute))) continue;
    const bool is_narrow = is_narrow_label(arm.recompute);
    const std::int64_t bound = peak && is_narrow ? upper_bound_bytes(*peak, arm.recompute) : 0;
    if (best != nullptr && bound <= best_bound) continue;
    best = &arm;
    best_bound = bound;
  }
  return best;
}

base::Answer answer_with(const base::StudyRows& study, const Choice& choice, const ArmVerdict& arm, std::string reason) {
  const base::StudyPlan& plan = study.plan;
  base::Answer answer;
  answer.arm = arm.arm;
  answer.reason = std::move(reason);
  if (plan.budget_per_rank_bytes) answer.margin_bytes = *plan.budget_per_rank_bytes - peak_of(arm);
  if (const ArmVerdict* measured = measured_headroom(choice, arm)) {
    answer.headroom_arm = measured->arm;
    answer.headroom_is_measured = true;
  } else if (const ArmRow* untried = untried_headroom(study, choice, arm)) {
    answer.headroom_arm = untried->arm;
  }
  answer.scope = scope_text(plan, choice.group);
  if (base::is_predicted(plan)) return answer;
  answer.confidence = confidence_text(arm, choice.noise);
  answer.would_change = what_would_change(plan, choice.verdict, answer, arm);
  return answer;
}

// nullopt: nothing of the group meets the budget.
std::optional<base::Answer> answer_of_group(const base::StudyRows& study, const Choice& choice) {
  const auto meets = [&](const ArmVerdict& arm) { return meets_budget(study.plan, arm); };
  const auto is_control = [&](const ArmVerdict& arm) { return arm.is_control && meets(arm); };
  if (const ArmVerdict* control = choice.cheapest(is_control))
    return answer_with(study, choice, *control, "the control " + words_of(study.plan).scope + ": no recompute is needed");
  const ArmVerdict* best = choice.cheapest(meets);
  return best == nullptr ? std::nullopt : std::optional(answer_with(study, choice, *best, reason_of_choice(choice)));
}

}  // namespace

base::Answer find_answer(const base::StudyRows& study, const base::StudyVerdict& verdict) {
  for (const base::GroupVerdict& group : verdict.groups)
    if (auto answer = answer_of_group(study, {study.plan, verdict, group, time_noise(verdict, group)})) return *std::move(answer);
  base::Answer none;
  none.reason = words_of(study.plan).none;
  if (!verdict.groups.empty()) none.scope = scope_text(study.plan, verdict.groups.front());
  return none;
}

}  // namespace rematch::rules
