#include "orchestrator/slurm/workspace_turn.h"

namespace rematch::slurm {

void wait_for_turn(const std::filesystem::path& workspace, const Surroundings& surroundings) {
  const auto until = surroundings.now() + kTurnDeadline;
  while (engine::WorkspaceLock::holder(workspace) && surroundings.now() < until && !surroundings.is_told_to_stop())
    surroundings.pause(std::chrono::milliseconds(200));
}

base::Result<engine::WorkspaceLock> take_turn(const std::filesystem::path& workspace, const std::string& study,
                                              const Surroundings& surroundings) {
  wait_for_turn(workspace, surroundings);
  return engine::WorkspaceLock::take(workspace, study);
}

engine::EngineOptions collect_options(const std::filesystem::path& workspace) {
  engine::EngineOptions options;
  options.workspace = workspace;
  options.launcher = "srun";
  return options;
}

}  // namespace rematch::slurm
