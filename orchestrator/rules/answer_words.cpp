#include "orchestrator/rules/answer_words.h"

#include <cmath>
#include <cstdio>

#include "orchestrator/base/layout_text.h"
#include "orchestrator/base/model_text.h"
#include "orchestrator/base/number_text.h"

namespace rematch::rules {

namespace {

std::string share(double fraction) {
  char text[64];
  std::snprintf(text, sizeof text, "%.0f", 100 * fraction);
  return text;
}

std::string number(std::int64_t value) { return std::to_string(value); }

std::string noise_text(const TimeNoise& noise) {
  if (noise.basis == NoiseBasis::kNone) return "nothing is known of the noise of its time";
  return "times less than " + base::percent_text(noise.fraction).substr(1) + " apart are not told apart (" +
         std::string(to_string(noise.basis)) + ")";
}

std::string passes_text(const base::ArmVerdict& arm) {
  std::string text = number(arm.num_passed) + " of " + number(arm.num_judged) + " runs pass";
  if (arm.pass_rate) text += " (95 % interval of the rate " + share(arm.pass_rate->low) + " to " + share(arm.pass_rate->high) + " %)";
  return text;
}

std::string time_text(const base::ArmVerdict& arm) {
  if (!arm.effect || !arm.effect->time) return "";
  const base::TimeVerdict& time = *arm.effect->time;
  return "; time " + base::percent_text(time.fraction) + " (" + base::percent_text(time.low) + " to " + base::percent_text(time.high) +
         ") against " + arm.effect->against;
}

void add_budget_changes(const base::StudyPlan& plan, const base::StudyVerdict& verdict, const base::Answer& answer,
                        const base::ArmVerdict& arm, std::vector<std::string>& changes) {
  const std::int64_t peak = arm.figures->hot.allocated_bytes;
  changes.push_back("a budget below " + base::bytes_text(peak) + " a rank, which is its peak" +
                    (answer.headroom_arm ? ": then " + *answer.headroom_arm + (answer.headroom_is_measured ? "" : ", not measured") : ""));
  for (const base::ArmVerdict& control : verdict.arms) {
    if (!control.is_control || control.arm == arm.arm || control.group_id != arm.group_id || !control.figures) continue;
    if (control.outcome == base::Outcome::kPass && plan.budget_per_rank_bytes)
      changes.push_back("a budget of " + base::bytes_text(control.figures->hot.allocated_bytes) + " a rank or more, which " + control.arm +
                        " meets without recompute");
  }
}

}  // namespace

std::string scope_text(const base::StudyPlan& plan, const base::GroupVerdict& group) {
  if (plan.trials.empty()) return "";
  const protocol::Trial& trial = plan.trials.front();
  return base::model_text(trial.model) + "; attention " + trial.backend.attention + "; " + base::layout_text(trial.parallel) +
         "; Megatron Core " + trial.recompute.core_revision + "; device " + trial.backend.device +
         (group.variation.empty() ? "" : "; " + group.variation);
}

std::string confidence_text(const base::ArmVerdict& arm, const TimeNoise& noise) {
  const std::int64_t spread = arm.figures->hot.allocated_bytes - arm.figures->smallest_peak_allocated_bytes;
  std::string text = passes_text(arm) + time_text(arm);
  if (arm.figures->median_step_time_ns) text += "; " + noise_text(noise);
  return text + "; " + (spread == 0 ? "the peak is the same in every run" : "peaks of its runs lie " + base::bytes_text(spread) + " apart");
}

std::vector<std::string> what_would_change(const base::StudyPlan& plan, const base::StudyVerdict& verdict, const base::Answer& answer,
                                           const base::ArmVerdict& arm) {
  std::vector<std::string> changes;
  add_budget_changes(plan, verdict, answer, arm, changes);
  for (const base::ArmVerdict& other : verdict.arms) {
    if (other.group_id == arm.group_id || other.outcome != base::Outcome::kPass || !other.figures || other.is_control) continue;
    changes.push_back("another group: " + other.arm + " passes too, with a peak of " +
                      base::bytes_text(other.figures->hot.allocated_bytes) + "; groups are not compared");
  }
  if (answer.headroom_arm && answer.headroom_is_measured) {
    const base::ArmVerdict* next = base::find_arm(verdict, *answer.headroom_arm);
    if (next != nullptr && next->figures->median_step_time_ns && arm.figures->median_step_time_ns)
      changes.push_back("a wish for " + base::bytes_text(arm.figures->hot.allocated_bytes - next->figures->hot.allocated_bytes) +
                        " more headroom: " + next->arm + ", at " +
                        base::percent_text(*next->figures->median_step_time_ns / *arm.figures->median_step_time_ns - 1) + " of time");
  }
  changes.emplace_back("another model, attention backend, layout or core revision: measure again");
  return changes;
}

}  // namespace rematch::rules
