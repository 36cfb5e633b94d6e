// What becomes of a study that runs in jobs of Slurm: its open submissions, what Slurm says of their jobs, what their runners last wrote,
// and what decide.h makes of both. Looks at files; the answer of Slurm is the caller's. Changes nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/result.h"
#include "orchestrator/base/rows.h"
#include "orchestrator/cli/running_trial.h"
#include "orchestrator/slurm/decide.h"
#include "orchestrator/slurm/job_table.h"
#include "schemas/protocol/runner_record.h"
#include "schemas/protocol/submission.h"

namespace rematch::cli {

using QueueAnswer = base::Result<std::vector<slurm::JobRow>>;

// A job, or an element of an array, of an open submission.
struct JobStatus {
  std::string submission;
  std::string scope;
  std::string job;    // "17", "17_3"; the submission's name while it has no number
  std::string state;  // Slurm's word; "unknown": it did not answer, or "gone": it does not know the job
  std::string reason;
  std::string nodes;  // Slurm's list
  std::optional<std::int64_t> restart_count;
  std::optional<std::int64_t> seconds_left;      // until its time limit; of a job that runs
  std::optional<protocol::RunnerRecord> runner;  // the newest of its part
  std::optional<std::int64_t> heartbeat_age_s;   // by the clocks of both hosts; of a runner without an end
  std::optional<RunningTrial> trial;             // of a runner that lives
  slurm::Decision decision;
};

struct ClusterStatus {
  std::int64_t num_submissions = 0;
  std::vector<JobStatus> jobs;  // of those that are open
  std::string slurm_problem;    // why Slurm did not answer; empty: it did, or was not asked
  std::string last_message;     // of the newest submission, when none is open
  bool is_complete = false;     // by its trials' files
};

struct ClusterLook {
  const std::filesystem::path& study_folder;
  const base::StudyPlan& plan;
  const std::vector<protocol::Submission>& submissions;  // all of the study, at least one
  const QueueAnswer& queue;
  std::int64_t now_unix_ns = 0;
};
ClusterStatus cluster_status(const ClusterLook& look);

// "2026-01-31T09:30:00" in this machine's time zone, as Slurm writes it; nullopt: no such text.
std::optional<std::int64_t> unix_seconds_of(const std::string& slurm_time);

// "running: 1 job", "waiting: Priority", "lost; run again", ...: of all jobs together.
std::string cluster_text(const ClusterStatus& status);
// What to do about one job; empty: nothing.
std::string advice_of(const JobStatus& job);

}  // namespace rematch::cli
