#include "orchestrator/strategy/rounds.h"

#include <algorithm>

#include "orchestrator/base/study_plan.h"
#include "orchestrator/plan/tiers.h"
#include "orchestrator/plan/trials.h"

namespace rematch::strategy {

namespace {

using base::ArmRow;
using base::ArmStatus;
constexpr std::int64_t kControlsInBlock = 2;

template <typename Wanted>
std::vector<std::string> names_of(const base::StudyPlan& plan, Wanted wanted) {
  std::vector<std::string> names;
  for (const ArmRow& arm : plan.arms)
    if (wanted(arm)) names.push_back(arm.arm);
  return names;
}

Round round_of(std::string name, std::vector<std::string> arms, std::int64_t num_blocks, std::int64_t num_controls) {
  const std::int64_t in_block = static_cast<std::int64_t>(arms.size()) + num_controls;
  return {std::move(name), std::move(arms), num_blocks * in_block};
}

std::int64_t most_blocks(const base::StudyPlan& plan) { return plan.blocks_auto ? base::kLooks.back() : plan.num_blocks; }

// Both groups of an escalation have the same tiers, and one of them is gone through. A control runs twice a block.
std::vector<Round> tiers_to_come(const base::StudyPlan& plan) {
  std::vector<Round> rounds;
  const auto is_waiting = [](const ArmRow& arm) { return arm.status == ArmStatus::kWaiting; };
  const auto gate =
      names_of(plan, [&](const ArmRow& arm) { return is_waiting(arm) && arm.is_control && arm.variation == "expandable_segments"; });
  if (!gate.empty()) rounds.push_back({"the control again, where memory is fragmented", gate, plan.num_blocks * kControlsInBlock});
  for (const plan::Tier tier : plan::kAllTiers) {
    const auto arms = names_of(plan, [&](const ArmRow& arm) {
      return is_waiting(arm) && arm.variation != "expandable_segments" && !arm.is_control && plan::tier_of(arm) == tier;
    });
    if (!arms.empty()) rounds.push_back(round_of(std::string(to_string(tier)), arms, plan.num_blocks, kControlsInBlock));
  }
  return rounds;
}

std::vector<Round> looks_to_come(const base::StudyPlan& plan) {
  if (!plan.blocks_auto) return {};
  Round round{
      "blocks " + std::to_string(plan.num_blocks) + " to " + std::to_string(base::kLooks.back() - 1) + ", for what is undecided", {}, 0};
  for (const ArmRow& arm : plan.arms) {
    if (arm.status != ArmStatus::kPlanned) continue;
    if (!arm.is_control) round.arms.push_back(arm.arm);
    round.num_trials_at_most += (base::kLooks.back() - plan.num_blocks) * (arm.is_control ? kControlsInBlock : 1);
  }
  return {round};
}

}  // namespace

std::vector<Round> rounds_to_come(const base::StudyPlan& plan) {
  if (!base::awaits_decision(plan)) return {};
  if (plan.strategy == "escalate") return tiers_to_come(plan);
  std::vector<Round> rounds = looks_to_come(plan);
  const auto pairs = names_of(plan, [](const ArmRow& arm) { return arm.status == ArmStatus::kWaiting; });
  if (!pairs.empty()) rounds.push_back(round_of("pairs of labels that both help", pairs, most_blocks(plan), kControlsInBlock));
  return rounds;
}

}  // namespace rematch::strategy
