#include "orchestrator/cli/study_folders.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kIdLength = 16;

// Of a folder: when something was made in it or renamed there.
fs::file_time_type changed_at(const fs::path& path) {
  std::error_code none;
  const auto time = fs::last_write_time(path, none);
  return none ? fs::file_time_type::min() : time;
}

struct StartedTrial {
  fs::file_time_type time;
  std::string trial_id;
};

std::optional<StartedTrial> newest_trial(const fs::path& study_folder, const std::vector<std::string>& trial_ids) {
  std::optional<StartedTrial> newest;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(protocol::StudyPaths{study_folder}.trials(), none)) {
    std::string id = entry.path().filename();
    if (!trial_ids.empty() && std::find(trial_ids.begin(), trial_ids.end(), id) == trial_ids.end()) continue;
    const auto time = changed_at(entry.path());
    if (!newest || time > newest->time) newest = StartedTrial{time, std::move(id)};
  }
  return newest;
}

}  // namespace

std::vector<fs::path> study_folders(const fs::path& workspace) {
  std::vector<fs::path> folders;
  const fs::path studies = protocol::WorkspacePaths{workspace}.studies();
  if (!fs::exists(studies)) return folders;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(studies))
    if (fs::exists(protocol::StudyPaths{entry.path()}.plan(), none)) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

FolderName split_folder_name(const fs::path& study_folder) {
  const std::string whole = study_folder.filename();
  if (whole.size() < kIdLength + 1) return {whole, ""};
  const std::size_t dash = whole.size() - kIdLength - 1;
  return {whole.substr(0, dash), whole.substr(dash + 1)};
}

std::optional<StartedAttempt> newest_attempt(const fs::path& study_folder, const std::vector<std::string>& trial_ids) {
  const auto trial = newest_trial(study_folder, trial_ids);
  if (!trial) return std::nullopt;
  const auto attempts = engine::StudyFolder(study_folder).attempts(trial->trial_id);
  if (attempts.empty()) return std::nullopt;
  return StartedAttempt{trial->trial_id, attempts.back()};
}

std::optional<fs::path> newest_study(const fs::path& workspace) {
  std::optional<std::pair<fs::file_time_type, fs::path>> newest;
  for (const fs::path& folder : study_folders(workspace)) {
    const auto trial = newest_trial(folder, {});
    const auto time = std::max(trial ? trial->time : fs::file_time_type::min(), changed_at(protocol::StudyPaths{folder}.plan()));
    if (!newest || time > newest->first) newest = {time, folder};
  }
  return newest ? std::optional(newest->second) : std::nullopt;
}

}  // namespace rematch::cli
