#include "orchestrator/launch/rank_environment.h"

namespace rematch::launch {

std::map<std::string, std::string> shared_environment(const protocol::Trial& trial, const RankShare& share, std::int64_t master_port) {
  return {{"WORLD_SIZE", std::to_string(trial.parallel.world_size)},
          {"LOCAL_WORLD_SIZE", std::to_string(ranks_per_node(trial, share))},
          {"MASTER_ADDR", share.master_address},
          {"MASTER_PORT", std::to_string(master_port)},
          {"OMP_NUM_THREADS", std::to_string(trial.omp_num_threads)}};
}

std::map<std::string, std::string> rank_environment(const std::map<std::string, std::string>& shared, std::int64_t rank,
                                                    std::int64_t local_rank) {
  std::map<std::string, std::string> environment = shared;
  environment["RANK"] = std::to_string(rank);
  environment["LOCAL_RANK"] = std::to_string(local_rank);
  return environment;
}

}  // namespace rematch::launch
