// One attempt from launch to end, with progress while it runs and what ends it early: the first signal ends the attempt cleanly, the second
// at once, and so may whoever watches over the run. Owned by the engine, one thread. Signals that arrive between two attempts are
// remembered.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "orchestrator/base/result.h"
#include "orchestrator/engine/listener.h"
#include "orchestrator/engine/overseer.h"
#include "orchestrator/engine/remaining_time.h"
#include "orchestrator/engine/study_folder.h"
#include "orchestrator/launch/launcher.h"

namespace rematch::engine {

// How each attempt is started.
struct StartOptions {
  std::filesystem::path trainer;
  launch::StepLayout step{};
};

class TrialRunner {
 public:
  // `overseer`: nullptr where there is none. All must outlive it.
  TrialRunner(launch::Launcher& launcher, StartOptions start, Listener& listener, Overseer* overseer = nullptr);
  ~TrialRunner();

  // Returns when nothing of the attempt runs any more.
  base::Result<protocol::LaunchRecord> run(const TrialPlace& place, const AttemptOnDisk& attempt, const RemainingTime& remaining);
  // Why no other attempt is to be started; nullopt: nothing speaks against it. SIGINT and SIGTERM go before all else.
  std::optional<StopCause> stop_cause();
  // Returns as soon as there is such a cause, at the latest after `most`.
  void await_stop_cause(std::chrono::milliseconds most);
  // Asks the overseer.
  void beat();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rematch::engine
