#include "orchestrator/cli/running_trial.h"

#include <fmt/format.h>

#include <system_error>

#include "orchestrator/engine/record_tail.h"
#include "orchestrator/slurm/parts.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

std::optional<RunningTrial> find_running(const engine::StudyFolder& folder, const base::StudyPlan& plan,
                                         const protocol::SubmissionTask& part) {
  std::error_code none;
  for (const protocol::Trial& trial : plan.trials) {
    if (!slurm::belongs_to(trial, part)) continue;
    const auto attempts = folder.attempts(trial.trial_id);
    if (attempts.empty() || std::filesystem::exists(protocol::AttemptPaths{attempts.back().folder}.launch(), none)) continue;
    const auto steps = engine::read_running_steps(attempts.back().folder, trial);
    return RunningTrial{trial.arm, trial.block, trial.slot, steps.num_steps_completed, trial.training.train_iters};
  }
  return std::nullopt;
}

std::string running_text(const RunningTrial& trial) {
  return fmt::format("{}, block {}, slot {}, step {} of {}", trial.arm, trial.block, trial.slot, trial.num_steps_completed,
                     trial.num_steps);
}

}  // namespace rematch::cli
