#include "orchestrator/plan/plan.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "orchestrator/base/hash.h"
#include "orchestrator/base/study_plan.h"
#include "orchestrator/plan/arms.h"
#include "orchestrator/plan/trials.h"

namespace rematch::plan {

using base::ArmRow;
using base::ArmStatus;
using base::StudyPlan;
using protocol::Trial;

namespace {

// Match: the members of a group differ in recompute alone. What a variation changes is part of its group; the control of cpu_offloading is
// what offloading is set against, so it stands in the same one.
std::string group_of(const Trial& common, const ArmRow& arm) {
  Trial trial = common;
  apply_variation(trial, arm);
  if (arm.variation == "cpu_offloading") trial.features.cpu_offloading = true;
  return base::content_hash(protocol::group_document(trial).dump());
}

std::string study_id_of(const StudyPlan& plan) {
  std::vector<std::string> groups;
  for (const auto& arm : plan.arms) groups.push_back(arm.group_id);
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  std::string content = plan.name;
  for (const auto& group : groups) content += "|" + group;
  return base::content_hash(content);
}

// Only planned arms run; the others stay in the plan with their reason, or wait for the strategy. A prediction is the same in any order and
// however often it is made: the control first, and once.
std::vector<Trial> first_trials(const StudyPlan& plan, const Trial& common) {
  std::vector<Trial> trials;
  std::vector<std::string> groups;
  for (const ArmRow& arm : plan.arms) {
    if (std::find(groups.begin(), groups.end(), arm.group_id) != groups.end()) continue;
    groups.push_back(arm.group_id);
    const std::vector<std::string> arms = planned_arms(plan, arm.group_id);
    const SlotOrder order = common.prediction ? SlotOrder::kAsPlannedOnce : SlotOrder::kShuffled;
    for (Trial& trial : make_trials(plan, common, {arm.group_id, arms, arms, 0, plan.num_blocks, plan.order_seed, order}))
      trials.push_back(std::move(trial));
  }
  return trials;
}

// What a strategy comes to later. A prediction has all of it at once: it orders, and leaves nothing out.
void set_waiting(StudyPlan& plan, const spec::SweepSpec& spec) {
  for (ArmRow& arm : plan.arms) {
    if (arm.status != ArmStatus::kPlanned || spec.common.prediction) continue;
    const bool is_named =
        std::any_of(spec.candidates.begin(), spec.candidates.end(), [&](const auto& each) { return each.arm == arm.arm; });
    const bool is_first = plan.strategy == "escalate" ? arm.is_control && arm.variation.empty()
                                                      : arm.is_control || is_named || arm.variation == "cpu_offloading";
    if (!is_first) arm.status = ArmStatus::kWaiting;
  }
}

void check_control(PlanFindings& findings, const ArmRow& control, const spec::SweepSpec& spec) {
  if (control.status != ArmStatus::kPlanned)
    findings.problems.push_back(
        spec::make_diagnostic(spec.control_place, "recompute.control", "the control is refused by rule " + control.reason));
}

void check_candidates(PlanFindings& findings, const StudyPlan& plan, const spec::SweepSpec& spec) {
  std::string reasons;
  for (std::size_t i = 1; i < plan.arms.size(); ++i) {
    if (plan.arms[i].status == ArmStatus::kPlanned || plan.arms[i].status == ArmStatus::kWaiting) return;
    reasons += "; " + plan.arms[i].arm + " is " + std::string(to_string(plan.arms[i].status)) + " (" + plan.arms[i].reason + ")";
  }
  const spec::Place place = spec.candidates.empty() ? spec.control_place : spec.candidates.front().place;
  findings.problems.push_back(spec::make_diagnostic(place, "recompute", "no candidate is left to run" + reasons));
}

// nullptr: a strategy's own, or of another group.
const spec::Candidate* candidate_of(const spec::SweepSpec& spec, const ArmRow& arm) {
  const auto is_its = [&arm](const spec::Candidate& candidate) { return candidate.arm == arm.arm; };
  const auto candidate = std::find_if(spec.candidates.begin(), spec.candidates.end(), is_its);
  return candidate == spec.candidates.end() ? nullptr : &*candidate;
}

void collect_warnings(PlanFindings& findings, const StudyPlan& plan, const spec::SweepSpec& spec, const protocol::Describe& trainer) {
  for (std::size_t i = 1; i < plan.arms.size(); ++i) {
    const ArmRow& arm = plan.arms[i];
    const spec::Candidate* candidate = candidate_of(spec, arm);
    if (arm.status == ArmStatus::kInvalid || candidate == nullptr) continue;
    const std::string inactive = arm.status == ArmStatus::kInactive ? "; the arm is inactive" : "";
    for (const auto& violation : violations_of(spec, trainer, arm.recompute))
      findings.warnings.push_back(spec::Warning::of_rule(
          violation.id, spec::make_diagnostic(candidate->place, "recompute", "arm " + arm.arm + ": " + to_string(violation) + inactive)));
  }
}

}  // namespace

StudyPlan make_plan(const spec::SweepSpec& spec, const protocol::Describe& trainer) {
  StudyPlan plan;
  plan.name = spec.common.study;
  plan.sweep_path = spec.path;
  plan.sweep_text = spec.text;
  plan.trainer_build_id = trainer.build_id;
  plan.order_seed = static_cast<std::uint64_t>(spec.order_seed.value_or(spec.common.training.seed));
  plan.strategy = spec.common.prediction ? "one_label" : spec.strategy_kind;
  plan.blocks_auto = spec.blocks_auto && !spec.common.prediction;
  plan.num_blocks = plan.blocks_auto ? base::kLooks.front() : spec.num_blocks;
  plan.smallest_effect = spec.smallest_effect;
  plan.budget_per_rank_bytes = spec.budget_per_rank_bytes;
  plan.arms = expand_arms(spec, trainer);
  Trial common = spec.common;
  common.trainer_build_id = trainer.build_id;
  for (ArmRow& arm : plan.arms) arm.group_id = group_of(common, arm);
  plan.study_id = study_id_of(plan);
  set_waiting(plan, spec);
  plan.trials = first_trials(plan, common);
  return plan;
}

PlanFindings check_plan(const StudyPlan& plan, const spec::SweepSpec& spec, const protocol::Describe& trainer) {
  PlanFindings findings;
  check_control(findings, plan.arms.front(), spec);
  check_candidates(findings, plan, spec);
  collect_warnings(findings, plan, spec, trainer);
  return findings;
}

}  // namespace rematch::plan
