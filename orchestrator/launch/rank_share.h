// Which ranks of a trial one supervisor starts, and where they meet the others. Called by the supervisor; reads the environment of a job
// step where it is one of several.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/result.h"
#include "orchestrator/launch/reserved_port.h"
#include "schemas/protocol/launch_record.h"
#include "schemas/protocol/trial.h"

namespace rematch::launch {

// By default all ranks on this machine.
struct RankShare {
  std::int64_t node = 0;  // 0-based, among those of the step
  std::int64_t num_nodes = 1;
  std::string master_address = kLoopback;
};

// As many ranks on each node as on the others, in order: the first node has the first ones.
std::int64_t ranks_per_node(const protocol::Trial& trial, const RankShare& share);
std::vector<std::int64_t> ranks_of_share(const protocol::Trial& trial, const RankShare& share);

// Why a trial cannot lie on so many nodes. nullopt: it can.
std::optional<base::Error> refuse_layout(const protocol::Trial& trial, std::int64_t num_nodes);

// SLURM_NODEID of SLURM_STEP_NUM_NODES, and SLURM_LAUNCH_NODE_IPADDR or the first of SLURM_STEP_NODELIST as the address. The error names
// the variable that is missing.
base::Result<RankShare> share_of_step();

// CUDA_VISIBLE_DEVICES names fewer devices than ranks want one each: the error has node, devices and ranks. nullopt: enough, not set, or
// another device.
std::optional<base::Error> refuse_devices(const protocol::Trial& trial, const protocol::LaunchNode& node, std::int64_t num_ranks);

}  // namespace rematch::launch
