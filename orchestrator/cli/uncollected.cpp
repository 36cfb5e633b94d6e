#include "orchestrator/cli/uncollected.h"

#include <algorithm>
#include <ostream>
#include <set>
#include <system_error>
#include <utility>

#include "orchestrator/base/study_plan.h"
#include "orchestrator/cli/study_folders.h"
#include "orchestrator/cli/warn.h"
#include "orchestrator/engine/study_folder.h"
#include "orchestrator/store/store.h"
#include "schemas/protocol/document_error.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

namespace {

namespace fs = std::filesystem;

bool has_submissions(const fs::path& study_folder) {
  std::error_code none;
  return fs::directory_iterator(protocol::StudyPaths{study_folder}.submissions(), none) != fs::directory_iterator();
}

std::int64_t num_uncollected(const fs::path& study_folder, const std::string& study_id, const store::Store& store) {
  std::set<std::pair<std::string, std::int64_t>> stored;
  for (const store::AttemptKey& key : store.attempt_keys(study_id)) stored.emplace(key.trial_id, key.attempt);
  const engine::StudyFolder folder(study_folder);
  const base::StudyPlan plan = base::read_study_plan(protocol::StudyPaths{study_folder}.plan().string());
  return std::count_if(plan.trials.begin(), plan.trials.end(), [&](const protocol::Trial& trial) {
    const auto attempts = folder.attempts(trial.trial_id);
    return std::any_of(attempts.begin(), attempts.end(), [&](const engine::AttemptOnDisk& attempt) {
      return attempt.is_done && !stored.contains({trial.trial_id, attempt.attempt});
    });
  });
}

}  // namespace

void tell_of_uncollected(const fs::path& workspace, const std::string& study_id, std::ostream& err) {
  std::vector<fs::path> folders = study_folders(workspace);
  std::erase_if(folders, [&](const fs::path& folder) {
    return (!study_id.empty() && split_folder_name(folder).study_id != study_id) || !has_submissions(folder);
  });
  if (folders.empty()) return;
  const auto store = store::Store::open_to_read(protocol::WorkspacePaths{workspace}.database());
  if (!store) return;
  for (const fs::path& folder : folders) {
    const auto [name, id] = split_folder_name(folder);
    try {
      const std::int64_t number = num_uncollected(folder, id, store.value());
      if (number > 0)
        warn(err, {base::WarningId::kUncollectedTrials, std::to_string(number) + (number == 1 ? " trial of " : " trials of ") + name +
                                                            " (" + id + (number == 1 ? ") is" : ") are") +
                                                            " done and not collected; `rematch run` or `rematch ingest` collects them"});
    } catch (const protocol::DocumentError&) {
      continue;
    }
  }
}

}  // namespace rematch::cli
