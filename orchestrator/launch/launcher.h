// What starts the processes of one attempt and sees them to their end. One file a launcher; each registers itself by name.
// The engine calls it on the thread that runs the io_context. A launcher owes its caller: launch.json in the attempt folder,
// no process of the attempt alive once on_end is called, and on_end called exactly once.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/base/result.h"
#include "orchestrator/launch/attempt_lock.h"
#include "schemas/protocol/launch_record.h"
#include "schemas/protocol/trial.h"

namespace boost::asio {
class io_context;
}

namespace rematch::launch {

// How the ranks of an attempt lie on the nodes of an allocation. Read by the launcher `srun`.
struct StepLayout {
  std::int64_t num_nodes = 1;                                // as many ranks on each; divides the world size
  std::vector<std::pair<std::string, std::string>> options;  // of srun, as Slurm names them without dashes; of a flag the value is empty
  std::chrono::milliseconds start_deadline{60'000};          // from srun's start until every node has answered
};

struct LaunchRequest {
  std::filesystem::path trainer;
  std::filesystem::path attempt_folder;  // holds trial.json
  std::int64_t attempt = 1;              // 1-based
  protocol::Trial trial;
  StepLayout step{};
};

enum class StopKind {
  kCleanly,  // SIGTERM, a grace in which ranks may write their last lines, then SIGKILL
  kNow,      // SIGKILL
};

// An attempt on its way. Destroying it before on_end was called gives the attempt up: the launcher ends it on its own.
class RunningAttempt {
 public:
  virtual ~RunningAttempt() = default;
  virtual void stop(StopKind kind) = 0;
};

// An Error means that no launch.json came: the attempt is lost.
using OnAttemptEnd = std::function<void(base::Result<protocol::LaunchRecord>)>;

class Launcher {
 public:
  virtual ~Launcher() = default;
  virtual std::string name() const = 0;
  virtual std::unique_ptr<RunningAttempt> start(boost::asio::io_context& context, const LaunchRequest& request, OnAttemptEnd on_end) = 0;
  // Before anything is started: why a trial of so many ranks cannot be. nullopt: nothing speaks against it.
  virtual std::optional<base::Error> refuse(std::int64_t /*num_ranks*/) { return std::nullopt; }
  // For an attempt that another controller started: waits until its supervisors are gone, then ends what they left behind. False when
  // something of it still runs at the deadline, or when the waiter gave up.
  virtual bool wait_until_gone(const std::filesystem::path& attempt_folder, const LockWait& wait) = 0;
};

std::vector<std::string> launcher_names();
// The error lists the names there are.
base::Result<std::unique_ptr<Launcher>> make_launcher(const std::string& name);

using MakeLauncher = std::unique_ptr<Launcher> (*)();
void register_launcher(const std::string& name, MakeLauncher make);

template <typename L>
struct LauncherRegistrar {
  explicit LauncherRegistrar(const std::string& name) {
    register_launcher(name, [] { return std::unique_ptr<Launcher>(std::make_unique<L>()); });
  }
};

}  // namespace rematch::launch
