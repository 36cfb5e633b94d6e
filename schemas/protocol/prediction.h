// What a run on the meta device assumes of the machine that it stands for, and which ranks it needs to run. Pure values and functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "schemas/protocol/parallel_dims.h"

namespace rematch::protocol {

struct Trial;

// How many tokens the experts get, where no router can say it.
//   balanced   every expert the same
//   forced     the same, because the model's own moe_router_force_load_balancing makes it so
//   imbalance  the experts of expert-parallel rank 0 together `imbalance` times the mean of a rank, the others the same of what is left
//   histogram  in proportion to `histogram`, as a run recorded it
struct ExpertLoad {
  std::string kind = "balanced";
  std::optional<double> imbalance;                     // 1 .. expert-parallel size
  std::optional<std::vector<std::int64_t>> histogram;  // tokens of each expert, in order of experts

  bool operator==(const ExpertLoad&) const = default;
};

// Share of the routed tokens that each expert gets: num_experts entries, sum 1. Throws DocumentError where the load does not fit them.
std::vector<double> expert_shares(const ExpertLoad& load, std::int64_t num_experts, std::int64_t expert_parallel_size);

// Bytes. trial.backend.memory_limit_bytes is device_memory less outside_allocator, unless the sweep sets backend.memory_limit.
struct PredictionSpec {
  std::string device;                        // a row of the device table
  std::int64_t device_memory_bytes = 0;      // what the driver reports
  std::int64_t outside_allocator_bytes = 0;  // CUDA context, NCCL and other communication buffers
  std::int64_t workspace_bytes = 0;          // inside the allocator for the whole run: cuBLAS and Transformer Engine workspaces
  std::int64_t graph_pool_bytes = 0;         // inside the allocator for the whole run: private pools of CUDA graphs
  ExpertLoad expert_load;
  std::map<std::string, std::string> origins;  // of each of these by name: "device table: ...", "sweep.yaml:7:3"
};

// Ranks that are alike for a prediction: in one pipeline stage, with the same number of tokens for their experts. They still differ in
// where their optimizer shard is cut (reports/METRICS.md, "Ranks that are alike").
struct RankClass {
  std::int64_t rank = 0;            // the lowest: the one that is run
  std::vector<std::int64_t> ranks;  // all of them, ascending
};

// By rank. Without a prediction every rank is alone.
std::vector<RankClass> rank_classes(const Trial& trial);
// Those that a launch of the trial starts, ascending.
std::vector<std::int64_t> started_ranks(const Trial& trial);

}  // namespace rematch::protocol
