// What is known of each study of a workspace: from the database where that is enough, else from the folders, from Slurm of those that have
// jobs. Called by `status`; changes nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/cli/cluster_status.h"
#include "orchestrator/cli/running_trial.h"
#include "orchestrator/engine/workspace_lock.h"
#include "orchestrator/slurm/client.h"

namespace rematch::cli {

struct StudyStatus {
  std::string name;
  std::string study_id;
  std::optional<protocol::Provenance> provenance;   // of its plan; null without trials
  std::int64_t num_planned = 0;                     // trials
  std::int64_t num_done = 0;                        // trials
  std::optional<std::int64_t> num_failed_attempts;  // null without a database
  bool is_at_its_end = true;                        // no trials may follow those that are planned
  std::optional<engine::WorkspaceHolder> holder;    // of the study that runs here, or is collected
  std::optional<RunningTrial> running;              // here
  std::optional<ClusterStatus> cluster;             // null: never submitted
};

// Asks Slurm once for all studies, and only when one has an open submission. Throws protocol::DocumentError for a plan or a submission that
// cannot be read.
std::vector<StudyStatus> all_statuses(const std::filesystem::path& workspace, slurm::Client& client);

// "complete", "running in process 17 on node-a: moe, block 0, slot 1, step 2 of 6", "in Slurm: waiting (Priority)"
std::string state_text(const StudyStatus& status);

}  // namespace rematch::cli
