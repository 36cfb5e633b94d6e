#include "schemas/protocol/trial_paths.h"

#include <cstdio>

namespace rematch::protocol {

namespace {

std::string rank_stem(std::int64_t rank) {
  char stem[32];
  std::snprintf(stem, sizeof stem, "rank-%05lld", static_cast<long long>(rank));
  return stem;
}

}  // namespace

std::filesystem::path WorkspacePaths::database() const { return root / "rematch.db"; }
std::filesystem::path WorkspacePaths::lock() const { return root / "lock"; }
std::filesystem::path WorkspacePaths::studies() const { return root / "studies"; }
std::filesystem::path WorkspacePaths::study(const std::string& name, const std::string& study_id) const {
  return studies() / (name + "-" + study_id);
}

std::filesystem::path StudyPaths::sweep() const { return root / "sweep.yaml"; }
std::filesystem::path StudyPaths::plan() const { return root / "study.json"; }
std::filesystem::path StudyPaths::trials() const { return root / "trials"; }
std::filesystem::path StudyPaths::trial(const std::string& trial_id) const { return trials() / trial_id; }

std::filesystem::path AttemptPaths::trial() const { return root / "trial.json"; }
std::filesystem::path AttemptPaths::launch() const { return root / "launch.json"; }
std::filesystem::path AttemptPaths::rank_record(std::int64_t rank) const { return root / (rank_stem(rank) + ".jsonl"); }
std::filesystem::path AttemptPaths::rank_log(std::int64_t rank) const { return root / (rank_stem(rank) + ".log"); }
std::filesystem::path AttemptPaths::done() const { return root / "done.json"; }

AttemptPaths attempt_paths(const std::filesystem::path& trial_folder, std::int64_t attempt) {
  return {trial_folder / ("attempt-" + std::to_string(attempt))};
}

}  // namespace rematch::protocol
