// After one_label: of the unions of two labels those whose labels both lowered the activation peak alone, in blocks of their own with two
// controls each. What a pair does beyond the sum of its labels is rules/interaction.h.
#include <algorithm>
#include <string>
#include <vector>

#include "orchestrator/base/number_text.h"
#include "orchestrator/base/study_plan.h"
#include "orchestrator/strategy/strategies.h"
#include "orchestrator/strategy/words.h"

namespace rematch::strategy {

namespace {

using base::ArmRow;
using base::ArmVerdict;

// Why the label alone does not ask for a pair; empty: it lowered the activation peak.
std::string why_not(const ArmVerdict& single) {
  if (single.outcome != base::Outcome::kPass) return single.arm + " " + ending_text(single, std::nullopt);
  if (!single.effect || !single.effect->activation_delta_bytes) return single.arm + " has no activation peak to set against the control's";
  if (!single.effect->against_control) return single.arm + " is set against " + single.effect->against + ", since no control passed";
  if (*single.effect->activation_delta_bytes < 0) return "";
  return single.arm + " alone changes the activation peak by " + base::signed_bytes_text(*single.effect->activation_delta_bytes);
}

void decide_pair(const Results& results, const ArmRow& pair, Growth& growth) {
  std::string reason_against;
  std::string reason_for;
  for (const std::string& label : *pair.recompute.recompute_modules) {
    const ArmVerdict& single = results.of(label);
    const std::string against = why_not(single);
    if (!against.empty()) reason_against += (reason_against.empty() ? "" : "; ") + against;
    if (against.empty())
      reason_for += (reason_for.empty() ? "" : ", ") + label + " by " + base::signed_bytes_text(*single.effect->activation_delta_bytes);
  }
  if (reason_against.empty())
    growth.take(pair.arm, "both labels lower the activation peak alone: " + reason_for);
  else
    growth.leave_out(pair.arm, reason_against);
}

std::vector<ArmRow> waiting_arms(const base::StudyPlan& plan) {
  std::vector<ArmRow> waiting;
  std::copy_if(plan.arms.begin(), plan.arms.end(), std::back_inserter(waiting),
               [](const ArmRow& arm) { return arm.status == base::ArmStatus::kWaiting; });
  return waiting;
}

// Beyond every block that the labels alone could have had.
std::int64_t first_block_of_pairs(const base::StudyPlan& plan) { return plan.blocks_auto ? base::kLooks.back() : plan.num_blocks; }

}  // namespace

void decide_pairs(const Results& results, Growth& growth) {
  const std::vector<ArmRow> waiting = waiting_arms(results.study.plan);
  if (waiting.empty()) return growth.stop("every pair that its labels ask for has run");
  if (results.study.plan.blocks_auto) {
    const Looked looked = add_blocks_until_decided(results, growth);
    if (looked.step == Step::kGrown) return;
    growth.remark(base::DecisionAction::kTake, "on to pairs: " + looked.end_reason);
  }
  const ArmRow& control = growth.plan().arms.front();
  std::vector<std::string> arms;
  for (const ArmRow& pair : waiting) {
    decide_pair(results, pair, growth);
    if (plan::arm_named(growth.plan(), pair.arm).status == base::ArmStatus::kPlanned) arms.push_back(pair.arm);
  }
  if (arms.empty()) return growth.stop("no two labels both lower the activation peak");
  arms.push_back(control.arm);
  const base::StudyPlan& plan = growth.plan();
  growth.add({control.group_id, arms, arms, first_block_of_pairs(plan), plan.num_blocks, plan.order_seed});
}

}  // namespace rematch::strategy
