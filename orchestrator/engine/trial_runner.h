// One attempt from launch to end, with progress while it runs and the user's interrupts: the first ends the attempt cleanly, the second at
// once. Owned by the engine, one thread. Signals that arrive between two attempts are remembered.
#pragma once

#include <filesystem>
#include <memory>

#include "orchestrator/base/result.h"
#include "orchestrator/engine/listener.h"
#include "orchestrator/engine/remaining_time.h"
#include "orchestrator/engine/study_folder.h"
#include "orchestrator/launch/launcher.h"

namespace rematch::engine {

class TrialRunner {
 public:
  TrialRunner(launch::Launcher& launcher, std::filesystem::path trainer, Listener& listener);
  ~TrialRunner();

  // Returns when nothing of the attempt runs any more.
  base::Result<protocol::LaunchRecord> run(const TrialPlace& place, const AttemptOnDisk& attempt, const RemainingTime& remaining);
  bool interrupted();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rematch::engine
