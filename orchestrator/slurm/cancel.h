// Ends the jobs of a study: the mark first, in every open submission, so that whatever starts late does not work on it; then by the jobs'
// names. Writes without the workspace lock, since it must not wait for anybody. Nothing is removed: `run` goes on with what is left.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "orchestrator/base/result.h"
#include "orchestrator/slurm/cluster.h"
#include "orchestrator/slurm/submission_store.h"
#include "orchestrator/slurm/surroundings.h"

namespace rematch::slurm {

enum class CancelWhen {
  kNow,         // SIGTERM, and SIGKILL after Slurm's KillWait
  kAfterTrial,  // runners stop when the trial that runs has ended; jobs that wait are ended now
};

struct CancelResult {
  std::int64_t num_submissions = 0;   // that were open; 0: nothing was to be cancelled
  bool all_ended = false;             // nothing of them is queued or runs, and they are closed; always false of kAfterTrial
  std::vector<std::string> warnings;  // Slurm did not answer, or jobs still run at the deadline
};

// Until Slurm shows none of the jobs as queued or running.
inline constexpr std::chrono::seconds kCancelDeadline{120};

CancelResult cancel_jobs(const SubmissionStore& store, Cluster& cluster, CancelWhen when, const Surroundings& surroundings);

}  // namespace rematch::slurm
