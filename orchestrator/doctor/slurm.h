// What of a Slurm cluster concerns a study: the client programs, the controller and how it is set up, accounting, partitions, and whether
// other nodes can see what lies here. Asks through slurm::Client and submits nothing; that is slurm_probe.h. One thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/doctor/finding.h"
#include "orchestrator/slurm/client.h"
#include "orchestrator/slurm/cluster_config.h"

namespace rematch::doctor {

struct ClusterPlace {
  std::filesystem::path workspace;
  std::optional<std::filesystem::path> trainer;  // nullopt: none was found
  std::string partition;                         // empty: the cluster's default
  std::vector<std::string> variables;            // names of all that are set
};

// Where the programs or the controller are missing the rest is not asked for.
Findings examine_slurm(slurm::Client& client, const ClusterPlace& place);

// The parts of it.
Findings examine_cluster_config(const slurm::ClusterConfig& config, bool has_accounting);
Findings examine_cluster_place(const ClusterPlace& place);  // the file systems of workspace and trainer, variables that jobs would get

}  // namespace rematch::doctor
