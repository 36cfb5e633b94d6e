#include <map>

#include "orchestrator/cli/cluster_status.h"

namespace rematch::cli {

namespace {

using slurm::Step;

bool needs_attention(const JobStatus& job) { return job.decision.step != Step::kWait && job.decision.step != Step::kDone; }

// What one job counts as among many.
std::string kind_of(const JobStatus& job) {
  switch (job.decision.step) {
    case Step::kDone: return "done";
    case Step::kSubmitAgain: return "lost";
    case Step::kCancelAndSubmitAgain:
    case Step::kCancelAndStop: return "held";
    case Step::kStop: return "stopped";
    case Step::kWait: break;
  }
  if (job.state == "unknown") return "unknown";
  if (job.decision.id == "held") return "held";
  if (job.decision.id == "queued") return job.reason.empty() ? "waiting" : "waiting (" + job.reason + ")";
  if (job.decision.id == "being-cancelled") return "being cancelled";
  return job.decision.id == "files-may-lag" ? "ending" : "running";
}

std::string next_step(const ClusterStatus& status) {
  bool is_waiting = false;
  for (const JobStatus& job : status.jobs) {
    if (needs_attention(job)) return "; run again";
    is_waiting = is_waiting || job.decision.step == Step::kWait;
  }
  return is_waiting ? "" : "; run again to collect";
}

}  // namespace

std::string cluster_text(const ClusterStatus& status) {
  if (status.jobs.empty() && status.is_complete) return "complete";
  if (status.jobs.empty()) return status.last_message.empty() ? "stopped; run again" : "stopped: " + status.last_message;
  std::map<std::string, std::int64_t> num_of_kind;
  for (const JobStatus& job : status.jobs) ++num_of_kind[kind_of(job)];
  std::string text;
  for (const auto& [kind, number] : num_of_kind)
    text += (text.empty() ? "" : ", ") + (status.jobs.size() == 1 ? "" : std::to_string(number) + " ") + kind;
  return "in Slurm: " + text + next_step(status);
}

std::string advice_of(const JobStatus& job) {
  switch (job.decision.step) {
    case Step::kWait: return job.decision.id == "held" || job.decision.id == "files-may-lag" ? job.decision.reason : "";
    case Step::kDone: return "done; run again to collect";
    case Step::kSubmitAgain: return "lost: " + job.decision.reason + "; run again, which submits what is left";
    case Step::kCancelAndSubmitAgain: return "held: " + job.decision.reason + "; run again, which cancels it and submits it anew";
    case Step::kCancelAndStop: return "held: " + job.decision.reason;
    case Step::kStop: return job.decision.reason + (job.decision.stop == slurm::StopKind::kInterrupted ? "; run again to go on" : "");
  }
  return "";
}

}  // namespace rematch::cli
