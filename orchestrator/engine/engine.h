// Carries a planned study out, or goes on where it stopped: for each trial in the plan's order that is not done, launch, wait, collect,
// store, mark done; when all are, the strategy says which trials follow, and the grown plan is written before they start. Every step is on
// disk before the next begins, so a controller killed at any point loses the trial in flight at most. Called by `run` on one thread; takes
// SIGINT and SIGTERM for as long as it works.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "orchestrator/base/result.h"
#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"
#include "orchestrator/engine/listener.h"

namespace rematch::engine {

struct EngineOptions {
  std::filesystem::path workspace;
  std::filesystem::path trainer;
  std::string launcher = "local";
};

enum class EngineEnd {
  kComplete,        // every trial is done
  kInterrupted,     // by a signal; run again to go on
  kControlRefuted,  // the control is not a control: no further trial was started
  kTrialsLeft,      // some attempts could not be launched, were lost or could not be stored; run again to go on
};

struct EngineResult {
  EngineEnd end = EngineEnd::kComplete;
  bool plan_grew = false;        // collect_study: its strategy wants further trials; study.json has them
  std::int64_t num_started = 0;  // attempts, in this run
  std::int64_t num_undone = 0;   // trials
  base::StudyRows study;
  base::StudyVerdict verdict;
};

// The error is one of the environment: workspace in use or not writable, database, unknown launcher, an attempt that another supervisor
// holds.
base::Result<EngineResult> carry_out(const base::StudyPlan& plan, const EngineOptions& options, Listener& listener);

// Stores and judges what runners in other places left, and lets the strategy grow the plan when every trial so far is done. Starts no
// trial. To be called when none of them runs: an attempt without a launch record counts as lost.
base::Result<EngineResult> collect_study(const base::StudyPlan& plan, const EngineOptions& options, Listener& listener);

}  // namespace rematch::engine
