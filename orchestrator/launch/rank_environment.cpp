#include "orchestrator/launch/rank_environment.h"

#include "orchestrator/launch/reserved_port.h"

namespace rematch::launch {

std::map<std::string, std::string> shared_environment(const protocol::Trial& trial, std::uint16_t master_port) {
  const std::string world = std::to_string(trial.parallel.world_size);
  return {{"WORLD_SIZE", world},
          {"LOCAL_WORLD_SIZE", world},
          {"MASTER_ADDR", kLoopback},
          {"MASTER_PORT", std::to_string(master_port)},
          {"OMP_NUM_THREADS", std::to_string(trial.omp_num_threads)}};
}

std::map<std::string, std::string> rank_environment(const std::map<std::string, std::string>& shared, std::int64_t rank) {
  std::map<std::string, std::string> environment = shared;
  environment["RANK"] = std::to_string(rank);
  environment["LOCAL_RANK"] = std::to_string(rank);
  return environment;
}

}  // namespace rematch::launch
