#include "orchestrator/slurm/overseer.h"

#include <system_error>
#include <utility>

#include "orchestrator/base/warnings.h"
#include "orchestrator/slurm/own_job.h"
#include "schemas/protocol/document_error.h"

namespace rematch::slurm {

namespace {

using engine::StopCause;
using Clock = std::chrono::steady_clock;

bool may_be_of_a_node(const base::AttemptRows& attempt) {
  if (!attempt.failure) return false;
  using protocol::FailureKind;
  const FailureKind kind = attempt.failure->kind;
  return kind == FailureKind::kLaunch || kind == FailureKind::kLost || kind == FailureKind::kNodeFail;
}

}  // namespace

AllocationOverseer::AllocationOverseer(engine::Claim& claim, std::filesystem::path submission, Client& client, engine::Listener& listener)
    : claim_(claim), submission_(std::move(submission)), client_(client), listener_(listener) {
  if (!claim_.record().allocation) return;
  if (const auto left = slurm::time_left(client_, *claim_.record().allocation)) end_ = Clock::now() + *left;
}

// A disk that refuses one beat may take the next: what stands still long enough is taken for dead by others, and then this run is
// superseded.
std::optional<StopCause> AllocationOverseer::beat() {
  try {
    if (claim_.is_superseded()) return StopCause::kSuperseded;
    claim_.beat();
    beat_failed_ = false;
  } catch (const std::system_error& problem) {
    if (!beat_failed_)
      listener_.remarked(base::warning_line(base::WarningId::kHeartbeatLost,
                                            std::string("this runner's heartbeat could not be written: ") + problem.what()));
    beat_failed_ = true;
  }
  return std::nullopt;
}

std::optional<StopCause> AllocationOverseer::before_trial() {
  try {
    if (!closed_text(protocol::read_submission(submission_.string())).empty()) return StopCause::kCancelled;
  } catch (const protocol::DocumentError& problem) {
    listener_.remarked(problem.what());  // it was read at the start: it is looked at again before the next trial
  }
  return std::nullopt;
}

std::optional<StopCause> AllocationOverseer::after_inconclusive(const base::AttemptRows& attempt) {
  const protocol::RunnerRecord& own = claim_.record();
  if (!own.allocation || own.nodes.size() < 2 || !may_be_of_a_node(attempt)) return std::nullopt;
  const auto num_nodes = num_nodes_now(client_, *own.allocation);
  if (!num_nodes || *num_nodes >= static_cast<std::int64_t>(own.nodes.size())) return std::nullopt;
  listener_.remarked(base::warning_line(base::WarningId::kNodesLost, "the allocation has " + std::to_string(*num_nodes) + " of its " +
                                                                         std::to_string(own.nodes.size()) + " nodes left"));
  return StopCause::kNodeLost;
}

std::optional<std::chrono::seconds> AllocationOverseer::time_left() {
  if (!end_) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::seconds>(*end_ - Clock::now());
}

std::string closed_text(const protocol::Submission& submission) {
  if (submission.cancel_unix_ns) return "submission " + submission.name + " was cancelled";
  if (submission.close_unix_ns) return "submission " + submission.name + " was closed: its results were stored, or it was given up";
  return "";
}

}  // namespace rematch::slurm
