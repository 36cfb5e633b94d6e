// Where the ranks of a job meet: a store at MASTER_ADDR:MASTER_PORT that rank 0 serves, or torchrun's agent.
// Failure: base::CommError at the deadline, which names the ranks that have not come.
#pragma once

#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <string>

namespace c10d {
class Store;
}

namespace rematch::comm {

enum class StoreHost { kRankZero, kAgent };

struct Rendezvous {
  std::string host;
  int port = 0;
  int rank = 0;  // within the job
  int world_size = 1;
  std::chrono::milliseconds timeout{0};
  StoreHost store_host = StoreHost::kRankZero;
  std::string key_prefix;  // of all keys: an agent's store outlives one start of its ranks
};

// Returns when every rank has come. A second process with the same rank is refused.
c10::intrusive_ptr<c10d::Store> meet(const Rendezvous& rendezvous);

// A connection of its own to the store of ranks that have met: one that waits does not hold up the other.
c10::intrusive_ptr<c10d::Store> connect_again(const Rendezvous& rendezvous);

}  // namespace rematch::comm
