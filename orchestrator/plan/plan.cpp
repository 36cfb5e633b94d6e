#include "orchestrator/plan/plan.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "orchestrator/base/hash.h"
#include "orchestrator/base/study_plan.h"
#include "orchestrator/plan/arms.h"
#include "orchestrator/plan/order.h"

namespace rematch::plan {

using base::ArmRow;
using base::ArmStatus;
using base::StudyPlan;
using protocol::Trial;

namespace {

// Match: the members of a sweep differ in recompute alone, so that they have one group.
std::string group_of(const spec::SweepSpec& spec) { return base::content_hash(protocol::group_document(spec.common).dump()); }

std::string trial_id_of(const Trial& trial) {
  return base::content_hash(trial.group_id + "|" + trial.arm + "|" + std::to_string(trial.block) + "|" + std::to_string(trial.slot) + "|" +
                            trial.trainer_build_id);
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

Trial make_trial(const Trial& common, const ArmRow& arm, std::int64_t block, std::int64_t slot) {
  Trial trial = common;
  trial.group_id = arm.group_id;
  trial.arm = arm.arm;
  trial.is_control = arm.is_control;
  trial.recompute = arm.recompute;
  trial.block = block;
  trial.slot = slot;
  trial.trial_id = trial_id_of(trial);
  return trial;
}

// A prediction is the same in any order and however often it is made: the control first, and once.
std::vector<std::vector<std::size_t>> fixed_order(std::size_t num_arms) {
  std::vector<std::vector<std::size_t>> orders(1, std::vector<std::size_t>(num_arms));
  std::iota(orders.front().begin(), orders.front().end(), std::size_t{0});
  return orders;
}

// Only planned arms run; the others stay in the plan with their reason.
std::vector<Trial> make_trials(const StudyPlan& plan, const Trial& common) {
  std::vector<const ArmRow*> running = {&plan.arms.front()};
  for (std::size_t i = 1; i < plan.arms.size(); ++i)
    if (plan.arms[i].status == ArmStatus::kPlanned) running.push_back(&plan.arms[i]);
  std::vector<Trial> trials;
  const bool predicts = common.prediction.has_value();
  const auto orders = predicts ? fixed_order(running.size()) : block_orders(plan.num_blocks, running.size() - 1, plan.order_seed);
  for (std::size_t block = 0; block < orders.size(); ++block)
    for (std::size_t slot = 0; slot < orders[block].size(); ++slot)
      trials.push_back(
          make_trial(common, *running[orders[block][slot]], static_cast<std::int64_t>(block), static_cast<std::int64_t>(slot)));
  return trials;
}

void check_control(PlanFindings& findings, const ArmRow& control, const spec::SweepSpec& spec) {
  if (control.status != ArmStatus::kPlanned)
    findings.problems.push_back(
        spec::make_diagnostic(spec.control_place, "recompute.control", "the control is refused by rule " + control.reason));
}

void check_candidates(PlanFindings& findings, const StudyPlan& plan, const spec::SweepSpec& spec) {
  std::string reasons;
  for (std::size_t i = 1; i < plan.arms.size(); ++i) {
    if (plan.arms[i].status == ArmStatus::kPlanned) return;
    reasons += "; " + plan.arms[i].arm + " is " + std::string(to_string(plan.arms[i].status)) + " (" + plan.arms[i].reason + ")";
  }
  const spec::Place place = spec.candidates.empty() ? spec.control_place : spec.candidates.front().place;
  findings.problems.push_back(spec::make_diagnostic(place, "recompute", "no candidate is left to run" + reasons));
}

spec::Place place_of(const spec::SweepSpec& spec, const ArmRow& arm) {
  const auto is_its = [&arm](const spec::Candidate& candidate) { return candidate.arm == arm.arm; };
  const auto candidate = std::find_if(spec.candidates.begin(), spec.candidates.end(), is_its);
  return candidate == spec.candidates.end() ? spec.control_place : candidate->place;
}

void collect_warnings(PlanFindings& findings, const StudyPlan& plan, const spec::SweepSpec& spec, const protocol::Describe& trainer) {
  for (std::size_t i = 1; i < plan.arms.size(); ++i) {
    const ArmRow& arm = plan.arms[i];
    if (arm.status == ArmStatus::kInvalid) continue;
    const std::string inactive = arm.status == ArmStatus::kInactive ? "; the arm is inactive" : "";
    for (const auto& violation : violations_of(spec, trainer, arm.recompute))
      findings.warnings.push_back(
          spec::make_diagnostic(place_of(spec, arm), "recompute", "arm " + arm.arm + ": " + to_string(violation) + inactive));
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
  plan.num_blocks = spec.num_blocks;
  plan.smallest_effect = spec.smallest_effect;
  plan.budget_per_rank_bytes = spec.budget_per_rank_bytes;
  plan.arms = expand_arms(spec, trainer);
  const std::string group_id = group_of(spec);
  for (ArmRow& arm : plan.arms) arm.group_id = group_id;
  plan.study_id = study_id_of(plan);
  Trial common = spec.common;
  common.trainer_build_id = trainer.build_id;
  plan.trials = make_trials(plan, common);
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
