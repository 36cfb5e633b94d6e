#include <string_view>

#include "orchestrator/doctor/slurm.h"
#include "orchestrator/doctor/workspace.h"

namespace rematch::doctor {

namespace {

namespace fs = std::filesystem;

Finding visibility(const std::string& name, const std::string& what, const fs::path& place) {
  Finding finding{name, State::kOk, what + " on a file system that every node mounts", fs::absolute(place).string(), ""};
  const auto kind = file_system_of(place);
  finding.found += ", on " + (kind ? kind->name : "a file system that is not told");
  if (kind && kind->is_network) return finding;
  finding.state = State::kWarning;
  finding.advice = "A compute node may not see it; `rematch doctor --slurm --probe` asks one";
  return finding;
}

// sbatch takes its options from SBATCH_* before those of the script, and hands every variable on to the job.
Finding variables(const std::vector<std::string>& names) {
  Finding finding{"slurm_variables", State::kOk, "no variable that changes what is submitted, or that jobs would inherit unseen", "", ""};
  for (const std::string_view prefix : {"REMATCH_", "SBATCH_", "SLURM_JOB_"})
    for (const std::string& name : names)
      if (name.starts_with(prefix)) finding.found += (finding.found.empty() ? "" : ", ") + name;
  if (finding.found.empty()) {
    finding.found = "none";
    return finding;
  }
  finding.state = State::kWarning;
  finding.advice = "Unset them unless they are meant: SBATCH_* outranks the batch script, REMATCH_* and SLURM_* go into the job with it";
  return finding;
}

}  // namespace

Findings examine_cluster_place(const ClusterPlace& place) {
  Findings findings{visibility("slurm_workspace", "the workspace", place.workspace)};
  if (place.trainer) findings.push_back(visibility("slurm_trainer", "the trainer", *place.trainer));
  findings.push_back(variables(place.variables));
  return findings;
}

}  // namespace rematch::doctor
