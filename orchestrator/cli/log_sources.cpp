#include "orchestrator/cli/log_sources.h"

#include <algorithm>
#include <system_error>

#include "orchestrator/slurm/batch_script.h"
#include "orchestrator/slurm/submission_store.h"
#include "schemas/protocol/document_error.h"
#include "schemas/protocol/prediction.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

namespace {

namespace fs = std::filesystem;

std::string exit_text(const protocol::RankExit& rank) {
  if (rank.exit_code) return "exit code " + std::to_string(*rank.exit_code);
  return rank.signal ? "signal " + std::to_string(*rank.signal) : "not started";
}

const protocol::RankExit* exit_of(const protocol::LaunchRecord& launch, std::int64_t rank) {
  const auto found = std::find_if(launch.ranks.begin(), launch.ranks.end(), [rank](const auto& exit) { return exit.rank == rank; });
  return found == launch.ranks.end() ? nullptr : &*found;
}

std::string rank_title(std::int64_t rank, const std::optional<protocol::LaunchRecord>& launch) {
  std::string title = "rank " + std::to_string(rank);
  const protocol::RankExit* exit = launch ? exit_of(*launch, rank) : nullptr;
  if (exit == nullptr) return title;
  const auto node = static_cast<std::size_t>(exit->node);
  if (launch->nodes.size() > 1 && node < launch->nodes.size()) title += " on " + launch->nodes[node].node;
  return title + ": " + exit_text(*exit) + (launch->cause_rank == rank ? ", failed first" : "");
}

std::string job_text(const protocol::Submission& submission) {
  return submission.job_id ? "job " + std::to_string(*submission.job_id) : "job " + submission.name;
}

}  // namespace

std::optional<protocol::LaunchRecord> read_launch_if_there(const fs::path& attempt_folder) {
  const fs::path path = protocol::AttemptPaths{attempt_folder}.launch();
  std::error_code none;
  return fs::exists(path, none) ? std::optional(protocol::read_launch_record(path)) : std::nullopt;
}

std::vector<LogSource> rank_logs(const fs::path& attempt_folder, const protocol::Trial& trial, std::optional<std::int64_t> only) {
  const auto launch = read_launch_if_there(attempt_folder);
  std::vector<std::int64_t> ranks = protocol::started_ranks(trial);
  if (only) std::erase_if(ranks, [&only](std::int64_t rank) { return rank != *only; });
  if (launch) std::stable_partition(ranks.begin(), ranks.end(), [&launch](std::int64_t rank) { return launch->cause_rank == rank; });
  std::vector<LogSource> sources;
  for (const std::int64_t rank : ranks)
    sources.push_back({rank_title(rank, launch), LogFile(protocol::AttemptPaths{attempt_folder}.rank_log(rank))});
  return sources;
}

std::vector<LogSource> job_logs(const fs::path& study_folder) {
  std::vector<LogSource> sources;
  for (const protocol::Submission& submission : slurm::SubmissionStore(study_folder).all()) {
    const std::string job = job_text(submission);
    if (submission.shape != protocol::SubmissionShape::kArray) {
      sources.push_back({job, LogFile(protocol::StudyPaths{study_folder}.submission_output(submission.name))});
      continue;
    }
    for (std::size_t i = 0; i < submission.tasks.size(); ++i) {
      const auto index = static_cast<std::int64_t>(i);
      sources.push_back({job + "_" + std::to_string(index) + ", " + protocol::scope_of(submission.tasks[i]),
                         LogFile(slurm::element_output(study_folder, submission.name, index))});
    }
  }
  return sources;
}

bool all_jobs_are_closed(const fs::path& study_folder) { return slurm::SubmissionStore(study_folder).open().empty(); }

std::string end_text(const std::optional<protocol::LaunchRecord>& launch) {
  if (!launch) return "running";
  std::string text = "ended: " + std::string(protocol::to_string(launch->end));
  if (launch->cause_rank) {
    text += ", rank " + std::to_string(*launch->cause_rank) + " first";
    if (const protocol::RankExit* exit = exit_of(*launch, *launch->cause_rank)) text += ": " + exit_text(*exit);
  }
  return text + (launch->message.empty() ? "" : "; " + launch->message);
}

}  // namespace rematch::cli
