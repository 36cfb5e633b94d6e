// SIGINT and SIGTERM as something that is looked at: for verbs that follow jobs, which go on without them. Holds the signals back for its
// lifetime. One, of the main thread.
#pragma once

#include <chrono>

#include "orchestrator/engine/held_signals.h"
#include "orchestrator/slurm/surroundings.h"

namespace rematch::cli {

class StopRequest {
 public:
  // Returns early when one comes.
  void pause(std::chrono::milliseconds duration);
  bool came() const;

 private:
  engine::HeldSignals held_;
  bool came_ = false;
};

// Of this user, by the system's clock; `client` and `stop` outlive it.
slurm::Surroundings real_surroundings(slurm::Client& client, StopRequest& stop);

}  // namespace rematch::cli
