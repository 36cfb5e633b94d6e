// Where this rank stands among the others, as torchrun sets it, whoever starts the ranks: RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE,
// MASTER_ADDR, MASTER_PORT. Without them: one rank alone.
#pragma once

#include <string>

#include "runtime/comm/network_device.h"
#include "runtime/comm/rendezvous.h"

namespace rematch::runtime {

struct RankEnvironment {
  int rank = 0;
  int local_rank = 0;  // among the ranks of its host; the device it uses
  int world_size = 1;
  int local_world_size = 1;
  std::string master_addr;
  int master_port = 0;
  // torchrun's agent serves a store of its own at that port (TORCHELASTIC_USE_AGENT_STORE), for one start of the ranks after another.
  comm::StoreHost store_host = comm::StoreHost::kRankZero;
  std::string key_prefix;

  comm::Span span() const { return local_world_size < world_size ? comm::Span::kSeveralHosts : comm::Span::kOneHost; }
};

// Throws std::invalid_argument on a variable that is not a number, or that contradicts another.
RankEnvironment read_rank_environment();

}  // namespace rematch::runtime
