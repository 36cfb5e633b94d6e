// The progress of a study in jobs on stderr: how its jobs and trials stand, in one line that is rewritten on a terminal; elsewhere a line
// whenever that changes, and once a minute while it does not. Nothing but remarks under -q.
#pragma once

#include <chrono>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>

#include "orchestrator/cli/progress.h"
#include "orchestrator/engine/listener.h"
#include "orchestrator/slurm/follow.h"

namespace rematch::cli {

class ClusterProgress final : public engine::Listener, public slurm::Watcher {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  // `hint`: said once, when jobs are seen for the first time; empty: nothing.
  ClusterProgress(std::ostream& err, const Terminal& terminal, Chatter chatter, Clock now, std::string hint,
                  ProgressLine::Columns columns = {})
      : line_(err, terminal, std::move(columns)), chatter_(chatter), now_(std::move(now)), hint_(std::move(hint)) {}

  void submitted(const protocol::Submission& submission) override;
  void sighted(const slurm::StudySight& sight) override;
  void remarked(const std::string& message) override { line_.print("rematch: " + message); }
  // Collecting starts no trial.
  void trial_started(const engine::TrialPlace&) override {}
  void trial_progressed(const engine::TrialPlace&, const engine::TrialProgress&) override {}
  void trial_ended(const engine::TrialPlace&, const base::AttemptRows&) override {}

 private:
  ProgressLine line_;
  Chatter chatter_;
  Clock now_;
  std::string hint_;
  std::string last_;
  std::optional<std::chrono::steady_clock::time_point> last_time_;
};

}  // namespace rematch::cli
