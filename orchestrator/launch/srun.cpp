// The launcher "srun": the ranks of an attempt on the nodes of the Slurm allocation that this process runs in, one job step an attempt and
// one supervisor a node. srun's stdin is every supervisor's control channel, its stdout their notices. A node that fails ends the others
// through the first; each leaves a part record, and the launch record is made of them.
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>
#include <utility>

#include "orchestrator/launch/attempt_lock.h"
#include "orchestrator/launch/attempt_processes.h"
#include "orchestrator/launch/descriptor_limit.h"
#include "orchestrator/launch/launcher.h"
#include "orchestrator/launch/node_parts.h"
#include "orchestrator/launch/srun_step.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::launch {

namespace {

// From SIGKILL until what a lost supervisor left is gone.
constexpr std::chrono::milliseconds kKilled{10'000};

// It carries the attempt's mark as well. Killed before it has heard its tasks out, it leaves their nodes waiting for it.
void let_srun_end(const std::filesystem::path& attempt_folder) {
  constexpr std::chrono::milliseconds kGrace{2'000};
  const auto until = std::chrono::steady_clock::now() + kGrace;
  while (!attempt_processes(attempt_folder).empty() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // a process that is no child of ours cannot be waited for
}

class SrunLauncher final : public Launcher {
 public:
  std::string name() const override { return "srun"; }
  std::unique_ptr<RunningAttempt> start(boost::asio::io_context& context, const LaunchRequest& request, OnAttemptEnd on_end) override {
    return start_srun_step(context, request, std::move(on_end));
  }
  std::optional<base::Error> refuse(std::int64_t num_ranks) override { return allow_ranks(num_ranks); }
  // Processes on other nodes cannot be seen from here: the locks of their folders, and the end of the runner's job, speak for them.
  bool wait_until_gone(const std::filesystem::path& attempt_folder, const LockWait& wait) override {
    const auto until = std::chrono::steady_clock::now() + wait.deadline;
    const auto is_free = [&](const std::filesystem::path& folder) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      return wait_until_unsupervised(folder, {left, wait.goes_on});
    };
    if (!is_free(attempt_folder)) return false;
    const protocol::AttemptPaths paths{attempt_folder};
    for (std::int64_t node = 0; node < num_node_folders(attempt_folder); ++node)
      if (!is_free(paths.node(node).root)) return false;
    let_srun_end(attempt_folder);
    if (!end_attempt_processes(attempt_folder, kKilled)) return false;
    settle_parts(attempt_folder);
    return true;
  }
};

const LauncherRegistrar<SrunLauncher> registrar("srun");

}  // namespace

}  // namespace rematch::launch
