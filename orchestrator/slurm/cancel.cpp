#include "orchestrator/slurm/cancel.h"

#include <algorithm>
#include <optional>

#include "orchestrator/launch/process.h"

namespace rematch::slurm {

using protocol::Submission;

namespace {

std::vector<std::string> mark(const SubmissionStore& store) {
  std::vector<std::string> names;
  for (const Submission& open : store.open()) {
    store.update(open.name, [](Submission& submission) {
      if (!submission.cancel_unix_ns) submission.cancel_unix_ns = launch::unix_now_ns();
    });
    names.push_back(open.name);
  }
  return names;
}

// nullopt: none is left. Else why not: jobs that still run, or Slurm's silence.
std::optional<std::string> still_active(Cluster& cluster, const std::vector<std::string>& names) {
  const auto rows = cluster.queue(names);
  if (!rows) return "Slurm does not answer: " + rows.error().message;
  const auto num_active = std::count_if(rows.value().begin(), rows.value().end(), [](const JobRow& row) { return is_active(row.state); });
  if (num_active == 0) return std::nullopt;
  return std::to_string(num_active) + " of its jobs have not ended yet";
}

std::optional<std::string> wait_until_ended(Cluster& cluster, const std::vector<std::string>& names, const Surroundings& surroundings) {
  constexpr std::chrono::milliseconds kLongest{15'000};
  std::chrono::milliseconds pause{500};
  const auto until = surroundings.now() + kCancelDeadline;
  for (;;) {
    auto active = still_active(cluster, names);
    if (!active || surroundings.now() >= until || surroundings.is_told_to_stop()) return active;
    surroundings.pause(pause);
    pause = std::min(2 * pause, kLongest);
  }
}

}  // namespace

CancelResult cancel_jobs(const SubmissionStore& store, Cluster& cluster, CancelWhen when, const Surroundings& surroundings) {
  CancelResult result;
  const std::vector<std::string> names = mark(store);
  result.num_submissions = static_cast<std::int64_t>(names.size());
  if (names.empty()) return result;
  const auto problem = when == CancelWhen::kNow ? cluster.cancel(names) : cluster.cancel_pending(names);
  if (problem) result.warnings.push_back(problem->message);
  if (when == CancelWhen::kAfterTrial) return result;
  if (const auto active = wait_until_ended(cluster, names, surroundings)) {
    result.warnings.push_back(*active);
    return result;
  }
  for (const std::string& name : names)
    store.update(name, [](Submission& submission) {
      if (!submission.close_unix_ns) submission.close_unix_ns = launch::unix_now_ns();
      if (submission.message.empty()) submission.message = "it was cancelled";
    });
  result.all_ended = true;
  return result;
}

}  // namespace rematch::slurm
