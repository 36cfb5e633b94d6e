#include "orchestrator/base/shell_text.h"
#include "orchestrator/report/detail_tables.h"

namespace rematch::report {

namespace {

std::string with_environment(const protocol::LaunchRecord& launch) {
  std::string command = "env";
  for (const auto& [name, value] : launch.environment) command += " " + name + "=" + base::shell_quoted(value);
  return command;
}

// Inside an allocation of as many nodes; MASTER_ADDR, which names the first node of the old one, is taken from the new step.
std::string as_job_step(const protocol::LaunchRecord& launch, std::size_t num_ranks) {
  protocol::LaunchRecord anywhere = launch;
  anywhere.environment.erase("MASTER_ADDR");
  const std::string rank = with_environment(anywhere) +
                           " MASTER_ADDR=$SLURM_LAUNCH_NODE_IPADDR RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID " +
                           base::shell_command(launch.command);
  return "srun --nodes=" + std::to_string(launch.nodes.size()) + " --ntasks-per-node=" + std::to_string(num_ranks / launch.nodes.size()) +
         " --cpu-bind=none bash -c " + base::shell_quoted(rank);
}

}  // namespace

std::string replay_command(const base::AttemptRows& attempt) {
  const protocol::LaunchRecord& launch = attempt.launch;
  if (launch.command.empty()) return "";
  if (launch.nodes.size() > 1) return as_job_step(launch, attempt.ranks.size());
  std::string ranks;
  for (const base::RankRows& rank : attempt.ranks) ranks += " " + std::to_string(rank.rank);
  return "for r in" + ranks + "; do " + with_environment(launch) + " RANK=$r LOCAL_RANK=$r " + base::shell_command(launch.command) +
         " & done; wait";
}

}  // namespace rematch::report
