#include "schemas/protocol/trial_paths.h"

#include <cstdio>

namespace rematch::protocol {

namespace {

std::string rank_stem(std::int64_t rank) {
  char stem[32];
  std::snprintf(stem, sizeof stem, "rank-%05lld", static_cast<long long>(rank));
  return stem;
}

std::string four_digits(std::int64_t number) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%04lld", static_cast<long long>(number));
  return digits;
}

}  // namespace

bool may_name_a_file(std::string_view name) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !name.empty() && name.size() <= 64 && name.front() != '.' && name.find_first_not_of(kAllowed) == std::string_view::npos;
}

std::filesystem::path WorkspacePaths::database() const { return root / "rematch.db"; }
std::filesystem::path WorkspacePaths::lock() const { return root / "lock"; }
std::filesystem::path WorkspacePaths::studies() const { return root / "studies"; }
std::filesystem::path WorkspacePaths::study(const std::string& name, const std::string& study_id) const {
  return studies() / (name + "-" + study_id);
}
std::filesystem::path WorkspacePaths::published() const { return root / "published"; }
std::filesystem::path WorkspacePaths::published(const std::string& name) const { return published() / (name + ".json"); }

std::filesystem::path StudyPaths::sweep() const { return root / "sweep.yaml"; }
std::filesystem::path StudyPaths::plan() const { return root / "study.json"; }
std::filesystem::path StudyPaths::trials() const { return root / "trials"; }
std::filesystem::path StudyPaths::trial(const std::string& trial_id) const { return trials() / trial_id; }

std::filesystem::path StudyPaths::submissions() const { return root / "submissions"; }
std::filesystem::path StudyPaths::submission(const std::string& name) const { return submissions() / (name + ".json"); }
std::filesystem::path StudyPaths::submission_script(const std::string& name) const { return submissions() / (name + ".sh"); }
std::filesystem::path StudyPaths::submission_output(const std::string& name) const { return submissions() / (name + ".out"); }
std::filesystem::path StudyPaths::runners() const { return root / "runners"; }
std::filesystem::path StudyPaths::runner(const std::string& scope, std::int64_t epoch) const {
  return runners() / (scope + "-" + four_digits(epoch) + ".json");
}

std::filesystem::path AttemptPaths::trial() const { return root / "trial.json"; }
std::filesystem::path AttemptPaths::launch() const { return root / "launch.json"; }
std::filesystem::path AttemptPaths::lock() const { return root / "lock"; }
std::filesystem::path AttemptPaths::rank_record(std::int64_t rank) const { return root / (rank_stem(rank) + ".jsonl"); }
std::filesystem::path AttemptPaths::rank_log(std::int64_t rank) const { return root / (rank_stem(rank) + ".log"); }
std::filesystem::path AttemptPaths::done() const { return root / "done.json"; }

std::filesystem::path AttemptPaths::superseded() const { return root / "superseded.json"; }
AttemptPaths AttemptPaths::node(std::int64_t index) const { return {root / ("node-" + four_digits(index))}; }

AttemptPaths attempt_paths(const std::filesystem::path& trial_folder, std::int64_t attempt) {
  return {trial_folder / ("attempt-" + std::to_string(attempt))};
}

}  // namespace rematch::protocol
