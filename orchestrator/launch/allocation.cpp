#include "orchestrator/launch/allocation.h"

#include <cstdlib>

#include "orchestrator/base/whole_number.h"

namespace rematch::launch {

std::optional<std::string> environment_text(const char* name) {
  const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing sets the environment
  return text == nullptr ? std::nullopt : std::optional<std::string>(text);
}

std::optional<std::int64_t> environment_number(const char* name) {
  const auto text = environment_text(name);
  return text ? base::whole_number(*text) : std::nullopt;
}

protocol::LaunchNode node_from_environment(const std::string& host) {
  return {environment_text("SLURMD_NODENAME").value_or(host), host, environment_text("CUDA_VISIBLE_DEVICES"),
          environment_text("SLURM_TOPOLOGY_ADDR")};
}

std::optional<protocol::Allocation> allocation_from_environment() {
  const auto job_id = environment_number("SLURM_JOB_ID");
  if (!job_id || *job_id < 1) return std::nullopt;
  return protocol::Allocation{*job_id, environment_number("SLURM_ARRAY_JOB_ID"), environment_number("SLURM_ARRAY_TASK_ID"),
                              environment_number("SLURM_RESTART_COUNT").value_or(0), environment_text(kRunnerVariable)};
}

}  // namespace rematch::launch
