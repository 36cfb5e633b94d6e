#include "orchestrator/engine/part.h"

#include <algorithm>

namespace rematch::engine {

using protocol::SubmissionTask;
using protocol::Trial;

bool is_whole(const SubmissionTask& task) { return !task.block && !task.trial_id; }

bool is_of_part(const SubmissionTask& task, const Trial& trial) {
  if (task.block && trial.block != *task.block) return false;
  return !task.trial_id || trial.trial_id == *task.trial_id;
}

std::optional<base::Error> refuse_part(const base::StudyPlan& plan, const SubmissionTask& task) {
  if (task.block && task.trial_id) return base::Error{"a part of a study is a block or a trial; found both in its submission"};
  if (std::any_of(plan.trials.begin(), plan.trials.end(), [&](const Trial& trial) { return is_of_part(task, trial); })) return std::nullopt;
  return base::Error{"study " + plan.study_id + " has no " + protocol::scope_of(task) + ": its plan has " +
                     std::to_string(plan.trials.size()) + " trials in " + std::to_string(plan.num_blocks) +
                     " blocks. Submit again with `rematch run`: the plan was changed after this was submitted"};
}

bool shares_trials(const base::StudyPlan& plan, const SubmissionTask& task, const std::string& scope) {
  return std::any_of(plan.trials.begin(), plan.trials.end(), [&](const Trial& trial) {
    if (!is_of_part(task, trial)) return false;
    return scope == protocol::scope_of({}) || scope == protocol::scope_of({trial.block, std::nullopt}) ||
           scope == protocol::scope_of({std::nullopt, trial.trial_id});
  });
}

}  // namespace rematch::engine
