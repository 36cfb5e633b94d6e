#include "orchestrator/launch/rank_share.h"

#include <algorithm>

#include "orchestrator/launch/allocation.h"
#include "orchestrator/launch/host_names.h"

namespace rematch::launch {

namespace {

std::string ranks_text(std::int64_t num) { return std::to_string(num) + (num == 1 ? " rank" : " ranks"); }

base::Error not_in_a_step(const std::string& variable) {
  return base::Error{"wanted " + variable + " in the environment of a supervisor of a job step, found none; srun sets it"};
}

// Devices are parted by commas; an empty text names none.
std::int64_t num_devices(const std::string& visible) {
  if (visible.empty()) return 0;
  return 1 + std::count(visible.begin(), visible.end(), ',');
}

}  // namespace

std::int64_t ranks_per_node(const protocol::Trial& trial, const RankShare& share) { return trial.parallel.world_size / share.num_nodes; }

std::vector<std::int64_t> ranks_of_share(const protocol::Trial& trial, const RankShare& share) {
  std::vector<std::int64_t> ranks = protocol::started_ranks(trial);
  const std::int64_t each = ranks_per_node(trial, share);
  std::erase_if(ranks, [&](std::int64_t rank) { return rank / each != share.node; });
  return ranks;
}

std::optional<base::Error> refuse_layout(const protocol::Trial& trial, std::int64_t num_nodes) {
  const std::int64_t world = trial.parallel.world_size;
  if (num_nodes < 1 || world % num_nodes != 0)
    return base::Error{"wanted as many ranks on each node, found " + ranks_text(world) + " for " + std::to_string(num_nodes) +
                       " nodes; choose a number of nodes that divides them"};
  if (trial.prediction && num_nodes > 1)
    return base::Error{"wanted a prediction on one node, found " + std::to_string(num_nodes) +
                       " nodes; its ranks communicate with nobody: run it with the launcher local"};
  return std::nullopt;
}

base::Result<RankShare> share_of_step() {
  const auto node = environment_number("SLURM_NODEID");
  if (!node) return not_in_a_step("SLURM_NODEID");
  const auto num_nodes = environment_number("SLURM_STEP_NUM_NODES");
  if (!num_nodes) return not_in_a_step("SLURM_STEP_NUM_NODES");
  if (const auto address = environment_text("SLURM_LAUNCH_NODE_IPADDR")) return RankShare{*node, *num_nodes, *address};
  const auto list = environment_text("SLURM_STEP_NODELIST");
  if (!list) return not_in_a_step("SLURM_LAUNCH_NODE_IPADDR or SLURM_STEP_NODELIST");
  const auto names = host_names(*list);
  if (!names) return names.error();
  return RankShare{*node, *num_nodes, names.value().front()};
}

std::optional<base::Error> refuse_devices(const protocol::Trial& trial, const protocol::LaunchNode& node, std::int64_t num_ranks) {
  if (trial.backend.device != "cuda" || !node.visible_devices) return std::nullopt;
  const std::int64_t found = num_devices(*node.visible_devices);
  if (found >= num_ranks) return std::nullopt;
  return base::Error{"wanted a device for each of the " + ranks_text(num_ranks) + " on node " + node.node + ", found " +
                     std::to_string(found) + " in CUDA_VISIBLE_DEVICES=\"" + *node.visible_devices +
                     "\"; ask for as many devices a node as it has ranks"};
}

}  // namespace rematch::launch
