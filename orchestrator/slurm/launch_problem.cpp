#include "orchestrator/slurm/launch_problem.h"

#include <filesystem>
#include <optional>
#include <vector>

#include "orchestrator/slurm/parts.h"
#include "schemas/protocol/document_error.h"
#include "schemas/protocol/launch_record.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::slurm {

namespace {

using protocol::LaunchRecord;

// Numbers of jobs, steps, ports and processes differ from attempt to attempt.
std::string without_numbers(const std::string& message) {
  std::string text;
  for (const char c : message) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit)
      text += c;
    else if (text.empty() || text.back() != '#')
      text += '#';
  }
  return text;
}

// nullopt: it has not ended in order.
std::optional<LaunchRecord> launch_of(const engine::AttemptOnDisk& attempt) {
  const std::filesystem::path path = protocol::AttemptPaths{attempt.folder}.launch();
  if (!std::filesystem::exists(path)) return std::nullopt;
  try {
    return protocol::read_launch_record(path);
  } catch (const protocol::DocumentError&) {
    return std::nullopt;
  }
}

bool is_of(const LaunchRecord& record, const std::string& problem) {
  return record.end == protocol::LaunchEnd::kLaunchFailed && without_numbers(record.message) == without_numbers(problem);
}

}  // namespace

std::string common_launch_problem(const base::StudyPlan& plan, const engine::StudyFolder& folder, const protocol::SubmissionTask& part,
                                  std::int64_t since_unix_ns) {
  std::vector<LaunchRecord> before;
  std::vector<LaunchRecord> since;
  for (const protocol::Trial& trial : plan.trials) {
    if (!belongs_to(trial, part)) continue;
    for (const engine::AttemptOnDisk& attempt : folder.attempts(trial.trial_id)) {
      auto record = launch_of(attempt);
      if (!record) return "";
      (record->start_unix_ns < since_unix_ns ? before : since).push_back(*std::move(record));
    }
  }
  if (since.empty()) return "";
  const std::string problem = since.back().message;
  std::size_t num_met = 0;
  for (const LaunchRecord& record : before) num_met += is_of(record, problem) ? 1 : 0;
  for (const LaunchRecord& record : since) {
    if (!is_of(record, problem)) return "";
    ++num_met;
  }
  return num_met > 1 ? problem : "";
}

}  // namespace rematch::slurm
