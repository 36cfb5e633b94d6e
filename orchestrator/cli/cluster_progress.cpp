#include "orchestrator/cli/cluster_progress.h"

namespace rematch::cli {

void ClusterProgress::submitted(const protocol::Submission& submission) {
  if (chatter_ == Chatter::kQuiet) return;
  std::string text = "submitted " + submission.name;
  if (submission.job_id) text += ", job " + std::to_string(*submission.job_id);
  if (submission.tasks.size() > 1) text += ", " + std::to_string(submission.tasks.size()) + " elements";
  line_.print(text);
}

void ClusterProgress::sighted(const slurm::StudySight& sight) {
  constexpr std::chrono::seconds kQuietest{60};
  if (chatter_ == Chatter::kQuiet || sight.num_jobs.empty()) return;
  if (const std::string hint = std::exchange(hint_, ""); !hint.empty()) line_.print(hint);
  const std::string text = slurm::sight_text(sight);
  if (line_.terminal().rewrites_lines) {
    line_.rewrite(Line{{.text = text, .may_be_cut = true}});
    return;
  }
  const auto now = now_();
  if (text == last_ && last_time_ && now - *last_time_ < kQuietest) return;
  last_ = text;
  last_time_ = now;
  line_.print(text);
}

}  // namespace rematch::cli
