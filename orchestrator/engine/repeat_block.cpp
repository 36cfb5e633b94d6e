#include "orchestrator/engine/repeat_block.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "orchestrator/engine/part.h"
#include "schemas/protocol/document_error.h"
#include "schemas/protocol/record_file.h"

namespace rematch::engine {

namespace {

using protocol::Trial;

// Trials of one group in one block: what is compared with each other.
using BlockKey = std::pair<std::string, std::int64_t>;

std::optional<std::string> runner_of(const AttemptOnDisk& attempt) {
  try {
    const auto launch = protocol::read_launch_record(protocol::AttemptPaths{attempt.folder}.launch().string());
    return launch.allocation ? launch.allocation->runner : std::nullopt;
  } catch (const protocol::DocumentError&) {
    return std::nullopt;  // whoever it was, it was somebody else
  }
}

struct BlockState {
  bool has_undone = false;
  std::vector<SupersededAttempt> done;
};

BlockState state_of(const std::vector<const Trial*>& trials, const StudyFolder& folder) {
  BlockState state;
  for (const Trial* trial : trials) {
    const std::size_t num_before = state.done.size();
    for (const AttemptOnDisk& attempt : folder.attempts(trial->trial_id))
      if (attempt.is_done) state.done.push_back({*trial, attempt});
    state.has_undone |= state.done.size() == num_before;
  }
  return state;
}

}  // namespace

std::vector<SupersededAttempt> supersede_half_done_blocks(const base::StudyPlan& plan, const protocol::SubmissionTask& task,
                                                          const StudyFolder& folder, const std::string& runner_id) {
  if (task.trial_id) return {};
  std::map<BlockKey, std::vector<const Trial*>> blocks;
  for (const Trial& trial : plan.trials)
    if (is_of_part(task, trial)) blocks[{trial.group_id, trial.block}].push_back(&trial);
  std::vector<SupersededAttempt> superseded;
  for (const auto& [key, trials] : blocks) {
    BlockState state = state_of(trials, folder);
    const bool by_another = std::any_of(state.done.begin(), state.done.end(),
                                        [&](const SupersededAttempt& done) { return runner_of(done.attempt) != runner_id; });
    if (!state.has_undone || !by_another) continue;
    for (SupersededAttempt& done : state.done) {
      folder.supersede(done.attempt, done.trial.trial_id);
      done.attempt.is_done = false;
      superseded.push_back(std::move(done));
    }
  }
  if (!superseded.empty()) protocol::sync_file_system(folder.root());
  return superseded;
}

}  // namespace rematch::engine
