#include "orchestrator/plan/trials.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "orchestrator/base/hash.h"
#include "orchestrator/plan/order.h"

namespace rematch::plan {

using base::ArmRow;
using protocol::Trial;

namespace {

std::string trial_id_of(const Trial& trial) {
  return base::content_hash(trial.group_id + "|" + trial.arm + "|" + std::to_string(trial.block) + "|" + std::to_string(trial.slot) + "|" +
                            trial.trainer_build_id);
}

Trial make_trial(const Trial& common, const ArmRow& arm, std::int64_t block, std::int64_t slot) {
  Trial trial = common;
  apply_variation(trial, arm);
  trial.group_id = arm.group_id;
  trial.arm = arm.arm;
  trial.is_control = arm.is_control;
  trial.recompute = arm.recompute;
  trial.block = block;
  trial.slot = slot;
  trial.trial_id = trial_id_of(trial);
  return trial;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The control of the group stands first: the order's index 0 is what runs twice.
std::vector<const ArmRow*> control_first(const base::StudyPlan& plan, const Blocks& blocks) {
  std::vector<const ArmRow*> rows;
  for (const ArmRow& arm : plan.arms)
    if (arm.group_id == blocks.group_id && (arm.is_control || contains(blocks.ordered, arm.arm))) rows.push_back(&arm);
  std::stable_partition(rows.begin(), rows.end(), [](const ArmRow* arm) { return arm->is_control; });
  return rows;
}

std::vector<std::vector<std::size_t>> orders_of(const Blocks& blocks, std::size_t num_rows) {
  const std::int64_t num_blocks = blocks.first_block + blocks.num_blocks;
  if (blocks.order == SlotOrder::kShuffled) return block_orders(num_blocks, num_rows - 1, blocks.seed);
  std::vector<std::size_t> as_planned(num_rows);
  std::iota(as_planned.begin(), as_planned.end(), std::size_t{0});
  return {static_cast<std::size_t>(num_blocks), as_planned};
}

}  // namespace

void apply_variation(Trial& trial, const ArmRow& arm) {
  trial.features.cpu_offloading = arm.variation == "cpu_offloading" && !arm.is_control;
  if (arm.variation == "expandable_segments") trial.backend.expandable_segments = true;
}

std::vector<Trial> make_trials(const base::StudyPlan& plan, const Trial& common, const Blocks& blocks) {
  const std::vector<const ArmRow*> rows = control_first(plan, blocks);
  if (rows.empty()) return {};
  const auto orders = orders_of(blocks, rows.size());
  std::vector<Trial> trials;
  for (std::int64_t block = blocks.first_block; block < blocks.first_block + blocks.num_blocks; ++block) {
    std::int64_t slot = 0;
    for (const std::size_t index : orders[static_cast<std::size_t>(block)])
      if (contains(blocks.arms, rows[index]->arm)) trials.push_back(make_trial(common, *rows[index], block, slot++));
  }
  return trials;
}

std::vector<std::string> planned_arms(const base::StudyPlan& plan, const std::string& group_id) {
  std::vector<std::string> names;
  for (const ArmRow& arm : plan.arms)
    if (arm.group_id == group_id && arm.status == base::ArmStatus::kPlanned) names.push_back(arm.arm);
  return names;
}

const ArmRow& arm_named(const base::StudyPlan& plan, const std::string& arm) {
  const ArmRow* found = base::find_arm(plan, arm);
  if (found == nullptr) throw std::logic_error("the plan has no arm " + arm);
  return *found;
}

}  // namespace rematch::plan
