// The studies of a workspace by their folders, for verbs that look at what runs: the database may be behind what jobs elsewhere have
// written. Reads only; a folder that is no study yet is passed over.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/engine/study_folder.h"

namespace rematch::cli {

// By name, so that two looks do the same. A folder without study.json is no study yet: whoever made it died, and no trial was started.
// Throws std::filesystem::filesystem_error where the studies are there and cannot be listed: none is not the same as not known.
std::vector<std::filesystem::path> study_folders(const std::filesystem::path& workspace);

// "first" and "12ab34cd56ef7890" of first-12ab34cd56ef7890.
struct FolderName {
  std::string name;
  std::string study_id;
};
FolderName split_folder_name(const std::filesystem::path& study_folder);

struct StartedAttempt {
  std::string trial_id;
  engine::AttemptOnDisk attempt;
};

// Of the trial that was started last, its last attempt. `trial_ids`: among these; empty: of any trial. nullopt: none was started.
std::optional<StartedAttempt> newest_attempt(const std::filesystem::path& study_folder, const std::vector<std::string>& trial_ids = {});

// The one in which something was started last, else the one planned last. nullopt: there is no study.
std::optional<std::filesystem::path> newest_study(const std::filesystem::path& workspace);

}  // namespace rematch::cli
