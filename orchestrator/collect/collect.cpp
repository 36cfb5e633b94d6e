#include "orchestrator/collect/collect.h"

#include <exception>
#include <vector>

#include "orchestrator/collect/find_cause.h"
#include "orchestrator/collect/rank_rows.h"
#include "schemas/protocol/launch_record.h"
#include "schemas/protocol/trial.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::collect {

namespace {

// The n of which this folder is attempt n, by the one place that spells the name.
std::int64_t attempt_number(const std::filesystem::path& folder) {
  constexpr std::int64_t kMostAttempts = 100000;
  for (std::int64_t n = 1; n <= kMostAttempts; ++n)
    if (protocol::attempt_paths({}, n).root.filename() == folder.filename()) return n;
  return 1;
}

// An unreadable document is an answer here, not an error: its reason becomes the message of the failure. The message names the file
// alone, so that a workspace gives the same rows wherever it lies.
template <typename Document, typename Read>
std::optional<Document> read_or_reason(Read read, const std::filesystem::path& path, std::string& reason) {
  try {
    return read(path.string());
  } catch (const std::exception& error) {
    reason = error.what();
    if (const auto at = reason.find(path.string()); at != std::string::npos)
      reason.replace(at, path.string().size(), path.filename().string());
    return std::nullopt;
  }
}

void put_exits(base::AttemptRows& rows) {
  for (const protocol::RankExit& exit : rows.launch.ranks)
    for (base::RankRows& rank : rows.ranks)
      if (rank.rank == exit.rank) rank.exit = exit;
}

// Whatever came of it.
base::Failure set_aside(const base::AttemptRows& attempt) {
  base::Failure failure;
  failure.stage = protocol::Stage::kDone;
  failure.host = attempt.launch.host;
  std::string as = "well";
  if (attempt.failure) {
    failure = *attempt.failure;
    as = "as " + std::string(protocol::to_string(failure.kind)) + (failure.message.empty() ? "" : ": " + failure.message);
  }
  failure.kind = protocol::FailureKind::kPreempted;
  failure.message =
      "set aside, not judged: its run was ended while it ran, or its block was begun by one run and is repeated whole by "
      "another; it ended " +
      as;
  return failure;
}

}  // namespace

base::AttemptRows collect_attempt(const std::filesystem::path& attempt_folder, const std::string& study_id) {
  const std::filesystem::path folder = attempt_folder.has_filename() ? attempt_folder : attempt_folder.parent_path();
  const protocol::AttemptPaths paths{folder};
  base::AttemptRows rows;
  rows.study_id = study_id;
  rows.attempt = attempt_number(folder);
  rows.trial.trial_id = folder.parent_path().filename().string();
  rows.trial.parallel.world_size = 0;
  std::vector<std::int64_t> started;
  std::string trial_problem;
  if (auto trial = read_or_reason<protocol::Trial>(protocol::read_trial, paths.trial(), trial_problem)) {
    rows.trial = *trial;
    started = protocol::started_ranks(*trial);
  }

  std::string launch_problem;
  auto launch = read_or_reason<protocol::LaunchRecord>(protocol::read_launch_record, paths.launch(), launch_problem);
  if (launch) rows.launch = *launch;
  if (!launch) {
    rows.launch.trial_id = rows.trial.trial_id;
    rows.launch.attempt = rows.attempt;
    rows.launch.end = protocol::LaunchEnd::kControllerLost;
    rows.launch.message = launch_problem;
  }
  for (std::int64_t rank : started) rows.ranks.push_back(read_rank_rows(paths.rank_record(rank), rows.trial.trial_id, rank));
  put_exits(rows);
  if (!trial_problem.empty()) rows.launch.message += (rows.launch.message.empty() ? "" : "; ") + trial_problem;
  const bool readable = launch.has_value() && trial_problem.empty();
  rows.failure = find_cause(rows, readable ? Documents::kRead : Documents::kUnreadable);
  if (std::filesystem::exists(paths.superseded())) rows.failure = set_aside(rows);
  return rows;
}

}  // namespace rematch::collect
