// Slurm's node lists ("n[1-3],gpu7") as names.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/result.h"

namespace rematch::launch {

// In the order of the list, at least one; `scontrol show hostnames` expands it, which asks no controller. The error has scontrol's words.
base::Result<std::vector<std::string>> host_names(const std::string& list);

}  // namespace rematch::launch
