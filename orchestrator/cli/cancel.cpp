// `rematch cancel STUDY`: end the jobs of a study under Slurm, or the controller that carries a study out on this host.
#include <signal.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>
#include <ostream>
#include <system_error>
#include <thread>

#include "orchestrator/base/study_plan.h"
#include "orchestrator/cli/progress.h"
#include "orchestrator/cli/stop_request.h"
#include "orchestrator/cli/study_folders.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/cli/warn.h"
#include "orchestrator/engine/engine.h"
#include "orchestrator/engine/workspace_lock.h"
#include "orchestrator/launch/this_host.h"
#include "orchestrator/slurm/cancel.h"
#include "orchestrator/slurm/workspace_turn.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

namespace {

namespace fs = std::filesystem;

// Name, id or the beginning of the id, or the folder's name, which is both.
bool is_named(const fs::path& folder, const std::string& key) {
  const FolderName name = split_folder_name(folder);
  return folder.filename() == key || name.name == key || (!name.study_id.empty() && name.study_id.starts_with(key));
}

std::vector<fs::path> folders_named(const fs::path& workspace, const std::string& key) {
  std::vector<fs::path> found = study_folders(workspace);
  std::erase_if(found, [&](const fs::path& folder) { return !is_named(folder, key); });
  return found;
}

class CancelVerb final : public Verb {
 public:
  std::string name() const override { return "cancel"; }
  std::string summary() const override { return "End the jobs of a study, or the run of it on this host; what is done stays"; }

  void declare(CLI::App& app) override {
    app.add_option("study", study_, "Name, id or beginning of the id")->required();
    auto* after = app.add_flag("--after-trial", after_trial_, "Under Slurm: let the trial that runs end first; jobs that wait end now");
    app.add_flag("--now", now_, "On this host: give the ranks no time to end by themselves; jobs under Slurm always end at once")
        ->excludes(after);
    app.footer(
        "Examples:\n"
        "  rematch cancel first\n"
        "  rematch cancel first --after-trial\n"
        "Trials that are done stay, and `rematch run` goes on with the rest.\n"
        "Exit: 0 also when there is nothing to cancel, 2 no such study, 8 environment, such as jobs that have not ended within two "
        "minutes.");
  }

  Exit run(const GlobalOptions& options, Streams streams) override {
    const auto folders = folders_named(options.workspace, study_);
    if (folders.size() != 1) {
      streams.err << "rematch: wanted one study '" << study_ << "' in " << options.workspace.string() << "; found "
                  << (folders.empty() ? "none" : std::to_string(folders.size()) + ": name it by its id")
                  << "; `rematch status` lists them\n";
      return Exit::kUsage;
    }
    if (!slurm::SubmissionStore(folders.front()).open().empty()) return cancel_jobs(folders.front(), options, streams);
    return cancel_here(folders.front(), options, streams);
  }

 private:
  Exit cancel_jobs(const fs::path& folder, const GlobalOptions& options, Streams streams) const {
    StopRequest stop;
    const auto client = slurm::make_client();
    const slurm::Surroundings surroundings = real_surroundings(*client, stop);
    slurm::Cluster cluster(*client, surroundings.user_id);
    const auto when = after_trial_ ? slurm::CancelWhen::kAfterTrial : slurm::CancelWhen::kNow;
    const slurm::CancelResult result = slurm::cancel_jobs(slurm::SubmissionStore(folder), cluster, when, surroundings);
    for (const std::string& warning : result.warnings) warn(streams.err, {base::WarningId::kJobsNotAnswered, warning});
    if (after_trial_ && result.warnings.empty()) {
      streams.err
          << "rematch: no further trial is started; when the one that runs has ended, cancel again collects, and `rematch run` goes on\n";
      return Exit::kOk;
    }
    if (!result.all_ended) {
      streams.err << "rematch: " << folder.filename().string()
                  << " is marked as cancelled; cancel again to see whether its jobs have ended\n";
      return Exit::kEnvironment;
    }
    return collect(folder, surroundings, options, streams);
  }

  // What was finished before is in the report.
  static Exit collect(const fs::path& folder, const slurm::Surroundings& surroundings, const GlobalOptions& options, Streams streams) {
    const base::StudyPlan plan = base::read_study_plan(protocol::StudyPaths{folder}.plan());
    slurm::wait_for_turn(options.workspace, surroundings);
    ProgressPrinter progress(streams.err, {}, Chatter::kQuiet);
    const auto collected = engine::collect_study(plan, slurm::collect_options(options.workspace), progress);
    if (!collected) {
      warn(streams.err, {base::WarningId::kCancelledNotCollected,
                         "its jobs have ended; what they left was not collected: " + collected.error().message});
      return Exit::kEnvironment;
    }
    streams.err << "rematch: cancelled " << plan.name << "; " << plan.trials.size() - static_cast<std::size_t>(collected.value().num_undone)
                << " of " << plan.trials.size() << " trials are done; `rematch run` goes on with the rest\n";
    return Exit::kOk;
  }

  Exit cancel_here(const fs::path& folder, const GlobalOptions& options, Streams streams) const {
    const auto holder = engine::WorkspaceLock::holder(options.workspace);
    if (!holder || holder->study != folder.filename()) {
      streams.err << "rematch: nothing of " << folder.filename().string() << " runs; there is nothing to cancel\n";
      return Exit::kOk;
    }
    if (after_trial_) {
      streams.err << "rematch: --after-trial is of studies under Slurm; this one is run by " << to_string(*holder) << "\n";
      return Exit::kUsage;
    }
    if (holder->host != launch::host_name()) {
      streams.err << "rematch: it is run by " << to_string(*holder) << ": cancel it there, or send SIGINT to that process\n";
      return Exit::kEnvironment;
    }
    return interrupt(*holder, options, streams);
  }

  Exit interrupt(const engine::WorkspaceHolder& holder, const GlobalOptions& options, Streams streams) const {
    const auto pid = static_cast<pid_t>(holder.pid);
    for (int i = 0; i < (now_ ? 2 : 1); ++i) {
      if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the same signal twice at once is one
      if (::kill(pid, SIGINT) != 0 && errno != ESRCH) {
        streams.err << "rematch: cannot interrupt " << to_string(holder) << ": " << std::generic_category().message(errno) << "\n";
        return Exit::kEnvironment;
      }
    }
    constexpr std::chrono::seconds kDeadline{30};
    const auto until = std::chrono::steady_clock::now() + kDeadline;
    while (is_still_held(holder, options)) {
      if (std::chrono::steady_clock::now() >= until) {
        streams.err << "rematch: " << to_string(holder) << " was interrupted and has not ended after " << kDeadline.count()
                    << " s; --now ends it\n";
        return Exit::kEnvironment;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    streams.err << "rematch: interrupted " << to_string(holder) << "; `rematch run` goes on with the rest\n";
    return Exit::kOk;
  }

  static bool is_still_held(const engine::WorkspaceHolder& before, const GlobalOptions& options) {
    const auto holder = engine::WorkspaceLock::holder(options.workspace);
    return holder && holder->pid == before.pid && holder->start_unix_ns == before.start_unix_ns;
  }

  std::string study_;
  bool after_trial_ = false;
  bool now_ = false;
};

const VerbRegistrar<CancelVerb> registrar;

}  // namespace

}  // namespace rematch::cli
