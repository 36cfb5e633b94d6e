#include "orchestrator/cli/log_subject.h"

#include <algorithm>
#include <iterator>
#include <ostream>

#include "orchestrator/base/study_plan.h"
#include "orchestrator/cli/study_folders.h"
#include "schemas/protocol/document_error.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

namespace {

namespace fs = std::filesystem;

struct Match {
  LogSubject subject;
  std::string text;
};

enum class Closeness { kExact, kBeginning };

std::vector<fs::path> studies_called(const std::vector<fs::path>& folders, const std::string& key, Closeness closeness) {
  std::vector<fs::path> found;
  std::copy_if(folders.begin(), folders.end(), std::back_inserter(found), [&](const fs::path& folder) {
    const FolderName name = split_folder_name(folder);
    if (closeness == Closeness::kExact) return name.name == key || name.study_id == key;
    return name.name.starts_with(key) || name.study_id.starts_with(key);
  });
  return found;
}

void add_studies(std::vector<Match>& matches, const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders) matches.push_back({{folder, {}}, "study " + folder.filename().string()});
}

std::vector<base::StudyPlan> read_plans(const std::vector<fs::path>& folders) {
  std::vector<base::StudyPlan> plans;
  for (const fs::path& folder : folders) plans.push_back(base::read_study_plan(protocol::StudyPaths{folder}.plan()));
  return plans;
}

// What is named exactly outranks what begins so.
std::vector<Match> matches_of(const std::string& key, const std::vector<fs::path>& folders) {
  std::vector<Match> matches;
  add_studies(matches, studies_called(folders, key, Closeness::kExact));
  if (!matches.empty()) return matches;
  const std::vector<base::StudyPlan> plans = read_plans(folders);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    std::vector<std::string> ids;
    for (const protocol::Trial& trial : plans[i].trials)
      if (trial.arm == key) ids.push_back(trial.trial_id);
    if (!ids.empty()) matches.push_back({{folders[i], ids}, "arm " + key + " of study " + folders[i].filename().string()});
  }
  if (!matches.empty()) return matches;
  add_studies(matches, studies_called(folders, key, Closeness::kBeginning));
  for (std::size_t i = 0; i < plans.size(); ++i)
    for (const protocol::Trial& trial : plans[i].trials)
      if (trial.trial_id.starts_with(key)) matches.push_back({{folders[i], {trial.trial_id}}, "trial " + trial.trial_id});
  return matches;
}

std::string listed(const std::vector<fs::path>& folders) {
  std::string text;
  for (const fs::path& folder : folders) text += (text.empty() ? "" : ", ") + folder.filename().string();
  return text;
}

std::variant<LogSubject, Exit> refuse(const std::string& message, Streams streams) {
  streams.err << "rematch: " << message << "\n";
  return Exit::kUsage;
}

// All, or those that --study names.
std::vector<fs::path> considered(const std::vector<fs::path>& folders, const std::string& study) {
  if (study.empty()) return folders;
  const auto exact = studies_called(folders, study, Closeness::kExact);
  return exact.empty() ? studies_called(folders, study, Closeness::kBeginning) : exact;
}

std::variant<LogSubject, Exit> find_among(const std::string& key, const std::vector<fs::path>& folders, Streams streams) {
  const std::vector<Match> matches = matches_of(key, folders);
  if (matches.size() == 1) return matches.front().subject;
  if (matches.empty()) return refuse("no study, arm or trial '" + key + "' in the studies " + listed(folders), streams);
  std::string several;
  for (const Match& match : matches) several += (several.empty() ? "" : ", ") + match.text;
  return refuse("'" + key + "' is several: " + several + "; name the study with --study, or more of the id", streams);
}

}  // namespace

std::variant<LogSubject, Exit> find_log_subject(const std::string& key, const std::string& study, const fs::path& workspace,
                                                Streams streams) {
  const std::vector<fs::path> all = study_folders(workspace);
  if (all.empty()) return refuse("no study in " + workspace.string() + "; `rematch run SWEEP` makes one", streams);
  const std::vector<fs::path> folders = considered(all, study);
  if (folders.empty()) return refuse("no study '" + study + "'; there are: " + listed(all), streams);
  if (key.empty() && study.empty()) return LogSubject{*newest_study(workspace), {}};
  if (key.empty() && folders.size() == 1) return LogSubject{folders.front(), {}};
  if (key.empty()) return refuse("several studies are called so: " + listed(folders), streams);
  try {
    return find_among(key, folders, streams);
  } catch (const protocol::DocumentError& problem) {
    streams.err << "rematch: " << problem.what() << "\n";
    return Exit::kEnvironment;
  }
}

}  // namespace rematch::cli
