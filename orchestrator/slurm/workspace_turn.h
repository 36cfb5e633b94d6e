// The workspace lock for as long as something is written, by processes that hold it for moments each: a follower of the same study on
// another login node is waited for, a controller that carries a study out is not.
#pragma once

#include <filesystem>
#include <string>

#include "orchestrator/base/result.h"
#include "orchestrator/engine/engine.h"
#include "orchestrator/engine/workspace_lock.h"
#include "orchestrator/slurm/surroundings.h"

namespace rematch::slurm {

inline constexpr std::chrono::seconds kTurnDeadline{10};

void wait_for_turn(const std::filesystem::path& workspace, const Surroundings& surroundings);
// `study`: what the lock file names. The error names who holds it.
base::Result<engine::WorkspaceLock> take_turn(const std::filesystem::path& workspace, const std::string& study,
                                              const Surroundings& surroundings);

// For engine::collect_study of what jobs left: attempts on several nodes are put together out of their parts.
engine::EngineOptions collect_options(const std::filesystem::path& workspace);

}  // namespace rematch::slurm
