// The trials of a plan, block by block: which arms of a group run in it, in a seeded order, each with its id. Used for the first trials by
// make_plan and for later ones by a strategy. Pure: ids depend on group, arm, block, slot and trainer build alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orchestrator/base/rows.h"

namespace rematch::plan {

// The allocator's setting or the feature that this arm's group changes.
void apply_variation(protocol::Trial& trial, const base::ArmRow& arm);

enum class SlotOrder {
  kShuffled,       // the control twice a block, every other arm once
  kAsPlannedOnce,  // every arm once, the control first
};

// Some arms of one group in `num_blocks` blocks from `first_block` on.
struct Blocks {
  std::string group_id;
  std::vector<std::string> arms;     // that run; in any order
  std::vector<std::string> ordered;  // those that the order is drawn for: `arms`, or more where some have been left out since
  std::int64_t first_block = 0;
  std::int64_t num_blocks = 0;
  std::uint64_t seed = 0;
  SlotOrder order = SlotOrder::kShuffled;
};

// In the order in which they run. Each arm's trial is `common` with what the arm changes; common carries the trainer's build.
std::vector<protocol::Trial> make_trials(const base::StudyPlan& plan, const protocol::Trial& common, const Blocks& blocks);

// Names of the arms of a group that run, in the plan's order.
std::vector<std::string> planned_arms(const base::StudyPlan& plan, const std::string& group_id);

const base::ArmRow& arm_named(const base::StudyPlan& plan, const std::string& arm);  // throws std::logic_error when there is none

}  // namespace rematch::plan
