// What Slurm's variables say of the place where this process runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "schemas/protocol/launch_record.h"

namespace rematch::launch {

// runner_id of the runner that a process belongs to; runners set it for all that they start.
inline constexpr const char* kRunnerVariable = "REMATCH_RUNNER";

// Slurm's SLURMD_NODENAME, else `host`; CUDA_VISIBLE_DEVICES; SLURM_TOPOLOGY_ADDR.
protocol::LaunchNode node_from_environment(const std::string& host);

// SLURM_JOB_ID, SLURM_ARRAY_JOB_ID, SLURM_ARRAY_TASK_ID, SLURM_RESTART_COUNT (unset on the first run), REMATCH_RUNNER. nullopt: no job.
std::optional<protocol::Allocation> allocation_from_environment();

std::optional<std::string> environment_text(const char* name);     // nullopt: not set
std::optional<std::int64_t> environment_number(const char* name);  // nullopt: not set, or no whole number

}  // namespace rematch::launch
