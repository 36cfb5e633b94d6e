// Slurm's client commands (sbatch, squeue, scancel, sacct, scontrol, sinfo) behind one interface: words in, text out. Everything else of
// this folder asks through it, so that tests can answer with recorded texts of other versions. Calls wait; one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "orchestrator/base/result.h"

namespace rematch::slurm {

struct Answer {
  std::int64_t exit_code = 0;  // 128 + n after signal n
  std::string out;
  std::string error;  // what it wrote to stderr
};

class Client {
 public:
  virtual ~Client() = default;
  // The error: no such program, or no answer within the deadline (then it was killed, and what it asked for may have happened or not).
  // An answer with an exit code other than 0 is an answer.
  virtual base::Result<Answer> call(const std::vector<std::string>& command, std::chrono::milliseconds deadline) = 0;
};

// Enough for a controller that comes back after a crash.
inline constexpr std::chrono::milliseconds kClientDeadline{30'000};

// The programs on PATH. They do not see variables that would change the question (SQUEUE_PARTITION, SBATCH_WAIT), nor those of a job that
// this process runs in; SBATCH_PARTITION and its like, which fill what a sweep leaves open, and SLURM_CONF stay.
std::unique_ptr<Client> make_client();

}  // namespace rematch::slurm
