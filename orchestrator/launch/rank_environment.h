// The variables of torchrun that reach a rank, so that the trainer can also be started by hand under torchrun, srun or mpirun.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "orchestrator/launch/rank_share.h"
#include "schemas/protocol/trial.h"

namespace rematch::launch {

// What all ranks share: WORLD_SIZE, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT, OMP_NUM_THREADS.
std::map<std::string, std::string> shared_environment(const protocol::Trial& trial, const RankShare& share, std::int64_t master_port);

// RANK and LOCAL_RANK on top of the shared ones.
std::map<std::string, std::string> rank_environment(const std::map<std::string, std::string>& shared, std::int64_t rank,
                                                    std::int64_t local_rank);

}  // namespace rematch::launch
