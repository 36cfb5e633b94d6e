// The command line of a job step that starts one supervisor on each node. Pure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/launch/launcher.h"
#include "orchestrator/launch/supervise_command.h"

namespace rematch::launch {

// What the allocation says of itself.
struct StepResources {
  std::optional<std::int64_t> cpus_per_node;  // the least of its nodes; nullopt: not known
  std::optional<std::int64_t> gpus_per_node;  // nullopt: none, or not known
};
// SLURM_JOB_CPUS_PER_NODE ("8(x2),16") and SLURM_GPUS_ON_NODE of a process of the job.
StepResources resources_from_environment();
std::optional<std::int64_t> least_cpus(const std::string& cpus_per_node);  // nullopt: not such a list

// srun's arguments. Options of the layout outrank those of the same name that are set here. GPUs are asked for where the trial's device is
// cuda: of an exclusive job that named none a step gets none by itself.
std::vector<std::string> step_arguments(const LaunchRequest& request, const StepResources& resources, const std::filesystem::path& program,
                                        const SuperviseArguments& supervise);

}  // namespace rematch::launch
