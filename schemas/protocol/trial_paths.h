// The only code that spells a file name inside a workspace. See schemas/FORMAT.md for what each file means.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace rematch::protocol {

// Names that users choose and that become file names: of studies and of published tables.
inline constexpr const char* kFileNameRule = "1 to 64 letters, digits, '.', '_' or '-', not starting with '.'";
bool may_name_a_file(std::string_view name);

// <workspace>/rematch.db, <workspace>/lock, <workspace>/studies/<name>-<id>/, <workspace>/published/<name>.json
struct WorkspacePaths {
  std::filesystem::path root;
  std::filesystem::path database() const;
  std::filesystem::path lock() const;  // held by the controller that works here
  std::filesystem::path studies() const;
  std::filesystem::path study(const std::string& name, const std::string& study_id) const;
  std::filesystem::path published() const;
  std::filesystem::path published(const std::string& name) const;  // of an imported table
};

// <study>/sweep.yaml (the file as given), <study>/study.json (resolved plan), <study>/trials/<trial_id>/, and of a study under Slurm
// <study>/submissions/<name>.{json,sh,out}, <study>/runners/<scope>-<epoch>.json
struct StudyPaths {
  std::filesystem::path root;
  std::filesystem::path sweep() const;
  std::filesystem::path plan() const;
  std::filesystem::path trials() const;
  std::filesystem::path trial(const std::string& trial_id) const;
  std::filesystem::path submissions() const;
  std::filesystem::path submission(const std::string& name) const;
  std::filesystem::path submission_script(const std::string& name) const;
  std::filesystem::path submission_output(const std::string& name) const;  // of an array %a is put before the ending
  std::filesystem::path runners() const;
  std::filesystem::path runner(const std::string& scope, std::int64_t epoch) const;
};

// <trial>/attempt-<n>/ ... ; a trial is done when done.json exists in one of its attempts.
struct AttemptPaths {
  std::filesystem::path root;
  std::filesystem::path trial() const;                         // trial.json
  std::filesystem::path launch() const;                        // launch.json
  std::filesystem::path lock() const;                          // held while somebody supervises what runs here
  std::filesystem::path rank_record(std::int64_t rank) const;  // rank-00000.jsonl
  std::filesystem::path rank_log(std::int64_t rank) const;     // rank-00000.log
  std::filesystem::path done() const;                          // done.json
  std::filesystem::path superseded() const;                    // superseded.json: was done, and its block was repeated whole
  AttemptPaths node(std::int64_t index) const;                 // node-0000/: what the supervisor of one of several nodes writes
};

AttemptPaths attempt_paths(const std::filesystem::path& trial_folder, std::int64_t attempt);

}  // namespace rematch::protocol
