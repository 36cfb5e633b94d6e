// From narrow to wide until a setting meets the budget on every rank. First the control alone. When it ran out of memory by fragmentation,
// it and all that follows run with expandable segments, as a group of their own. Then round by round the tiers of plan/tiers.h, each with
// all of its arms and all blocks. Nothing is left out for what is predicted or attributed: that orders. Offloading comes last.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/base/number_text.h"
#include "orchestrator/plan/tiers.h"
#include "orchestrator/rules/conclusion.h"
#include "orchestrator/rules/fragmentation.h"
#include "orchestrator/rules/judge_runs.h"
#include "orchestrator/rules/optimizer_bound.h"
#include "orchestrator/strategy/arm_order.h"
#include "orchestrator/strategy/strategies.h"
#include "orchestrator/strategy/words.h"

namespace rematch::strategy {

namespace {

using base::ArmRow;
using base::ArmStatus;
using base::ArmVerdict;
using base::DecisionAction;
using plan::Tier;

constexpr const char* kExpandable = "expandable_segments";

const ArmRow* control_of(const base::StudyPlan& plan, const std::string& variation) {
  const auto found =
      std::find_if(plan.arms.begin(), plan.arms.end(), [&](const ArmRow& arm) { return arm.is_control && arm.variation == variation; });
  return found == plan.arms.end() ? nullptr : &*found;
}

// The group that the escalation goes on in, and how far it got there.
struct Place {
  std::string variation;
  const ArmRow* control = nullptr;
  Tier last = Tier::kControl;
};

Place place_of(const base::StudyPlan& plan) {
  Place place;
  const ArmRow* expandable = control_of(plan, kExpandable);
  if (expandable != nullptr && expandable->status == ArmStatus::kPlanned) place.variation = kExpandable;
  place.control = control_of(plan, place.variation);
  for (const ArmRow& arm : plan.arms)
    if (arm.status == ArmStatus::kPlanned && (arm.variation == place.variation || arm.variation == "cpu_offloading"))
      place.last = std::max(place.last, plan::tier_of(arm));
  return place;
}

std::vector<ArmRow> waiting_of(const base::StudyPlan& plan, const Place& place, Tier tier) {
  std::vector<ArmRow> arms;
  for (const ArmRow& arm : plan.arms) {
    const bool is_here = tier == Tier::kOffloading ? arm.variation == "cpu_offloading" : arm.variation == place.variation;
    if (is_here && arm.status == ArmStatus::kWaiting && plan::tier_of(arm) == tier) arms.push_back(arm);
  }
  return arms;
}

std::optional<std::string> what_meets(const Results& results) {
  std::string meeting;
  for (const ArmVerdict& arm : results.verdict.arms)
    if (rules::meets_budget(results.study.plan, arm))
      meeting += (meeting.empty() ? "" : "; ") + arm.arm + " " + ending_text(arm, results.study.plan.budget_per_rank_bytes);
  if (meeting.empty()) return std::nullopt;
  return "met: " + meeting + (results.verdict.answer.arm ? ". The answer is " + *results.verdict.answer.arm : "");
}

std::string gate_text(const rules::FragmentationSign& sign) {
  return "rank " + std::to_string(sign.rank) + " had " + base::bytes_text(sign.reserved_bytes) + " reserved and " +
         base::bytes_text(sign.allocated_bytes) + " of them allocated when " + base::bytes_text(sign.requested_bytes.value_or(0)) +
         " could not be had, with a largest free block of " + base::bytes_text(sign.largest_free_block_bytes) + " and " +
         std::to_string(sign.num_alloc_retries) + " retries";
}

// Of the control's first run that ran out of memory.
const protocol::OomRecord* oom_of(const base::StudyRows& study, const std::string& control) {
  for (const std::size_t index : rules::judged_attempts(study, control)) {
    const base::AttemptRows& attempt = study.attempts[index];
    if (!attempt.failure || attempt.failure->kind != protocol::FailureKind::kOom) continue;
    const base::RankRows* cause = base::find_rank(attempt.ranks, attempt.failure->rank);
    if (cause != nullptr && cause->oom) return &*cause->oom;
  }
  return nullptr;
}

std::string no_gate_text(const Results& results, const ArmVerdict& control) {
  const protocol::OomRecord* oom = oom_of(results.study, control.arm);
  if (oom == nullptr) return control.arm + " " + ending_text(control, results.study.plan.budget_per_rank_bytes);
  const std::int64_t free_bytes = oom->reserved_bytes - oom->allocated_bytes;
  return control.arm + " wanted " + base::bytes_text(oom->requested_bytes) + " with " + base::bytes_text(free_bytes) +
         " reserved and free of " + base::bytes_text(oom->reserved_bytes) +
         (free_bytes < oom->requested_bytes ? ": what is allocated is too much"
                                            : ", a block of " + base::bytes_text(oom->largest_free_block_bytes) + " among them");
}

// Whether the control is to run again with expandable segments before any recompute.
bool pass_gate(const Results& results, const Place& place, Growth& growth) {
  const ArmRow* expandable = control_of(results.study.plan, kExpandable);
  if (expandable == nullptr || !place.variation.empty() || place.last != Tier::kControl) return false;
  const ArmVerdict& control = results.of(place.control->arm);
  const auto sign = rules::fragmentation_sign(results.study, place.control->arm);
  if (!sign || !sign->requested_bytes) {
    growth.leave_out(expandable->arm, "no request failed for fragmentation: " + no_gate_text(results, control));
    return false;
  }
  growth.take(expandable->arm, "fragmentation, before any recompute: " + gate_text(*sign));
  const auto& plan = growth.plan();
  growth.add({expandable->group_id, {expandable->arm}, {expandable->arm}, 0, plan.num_blocks, plan.order_seed});
  return true;
}

// What the arms of a tier are set against. The control's runs say all that they will when none of them passed: then it is the narrowest arm
// that passed, if there is one.
std::vector<std::string> compared_in_blocks(const Results& results, const Place& place, Growth& growth) {
  const ArmVerdict& control = results.of(place.control->arm);
  if (control.num_passed > 0) return {control.arm};
  if (place.last == Tier::kControl)
    growth.leave_out(control.arm, "it " + ending_text(control, std::nullopt) + ": it is not run again beside wider settings");
  for (const base::GroupVerdict& group : results.verdict.groups)
    if (group.group_id == place.control->group_id && group.reference_arm) return {*group.reference_arm};
  return {};
}

std::string why_on(const Results& results, const Place& place) {
  std::string endings;
  for (const ArmVerdict& arm : results.verdict.arms) {
    const ArmRow& row = plan::arm_named(results.study.plan, arm.arm);
    const bool is_here = row.variation == place.variation || plan::tier_of(row) == Tier::kOffloading;
    if (!is_here || row.status != ArmStatus::kPlanned || plan::tier_of(row) != place.last) continue;
    endings += (endings.empty() ? "" : "; ") + arm.arm + " " + ending_text(arm, results.study.plan.budget_per_rank_bytes);
  }
  return "nothing so far passes within " + base::bytes_text(*results.study.plan.budget_per_rank_bytes) + " a rank: " + endings;
}

// The offloading group has a control of its own, and no blocks before these.
void take_tier(const Results& results, const Place& place, Tier tier, Growth& growth) {
  const bool offloads = tier == Tier::kOffloading;
  std::vector<std::string> arms = offloads ? std::vector<std::string>{} : compared_in_blocks(results, place, growth);
  growth.remark(DecisionAction::kTake, std::string(to_string(tier)) + ": " + why_on(results, place));
  std::string group_id = place.control->group_id;
  for (const OrderedArm& next : in_order(results.study, *place.control, waiting_of(growth.plan(), place, tier))) {
    growth.take(next.arm.arm, next.reason);
    arms.push_back(next.arm.arm);
    group_id = next.arm.group_id;
  }
  const base::StudyPlan& plan = growth.plan();
  const std::int64_t first_block = offloads ? 0 : static_cast<std::int64_t>(tier) * plan.num_blocks;
  growth.add({group_id, arms, arms, first_block, plan.num_blocks, plan.order_seed});
}

}  // namespace

void decide_escalate(const Results& results, Growth& growth) {
  const base::StudyPlan& plan = results.study.plan;
  const Place place = place_of(plan);
  if (const auto met = what_meets(results)) return growth.stop(*met);
  if (pass_gate(results, place, growth)) return;
  if (const auto bound = rules::find_optimizer_bound(results.study, results.verdict))
    return growth.stop(rules::optimizer_bound_text(*bound, false));
  for (const Tier tier : plan::kAllTiers) {
    if (tier <= place.last) continue;
    if (!waiting_of(plan, place, tier).empty()) return take_tier(results, place, tier, growth);
    if (tier != Tier::kOffloading)
      growth.remark(DecisionAction::kLeaveOut, std::string(to_string(tier)) + ": this model and sweep have none");
  }
  growth.stop(why_on(results, place) + ". There is nothing wider to try");
}

}  // namespace rematch::strategy
