// Carries a planned study out, or goes on where it stopped: for each trial in the plan's order that is not done, launch, wait, collect,
// store, mark done; when all are, the strategy says which trials follow, and the grown plan is written before they start. Every step is on
// disk before the next begins, so a controller killed at any point loses the trial in flight at most. Called by `run` and by runners in an
// allocation, on one thread; takes SIGINT, SIGTERM and SIGUSR1 for as long as it works.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "orchestrator/base/result.h"
#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"
#include "orchestrator/engine/listener.h"
#include "orchestrator/engine/overseer.h"
#include "orchestrator/launch/launcher.h"
#include "schemas/protocol/submission.h"

namespace rematch::engine {

// Of a runner that holds the claim on a part of a study: it works beside others, so it takes no lock on the workspace and keeps a database
// of its own.
struct PartOptions {
  protocol::SubmissionTask task;  // neither block nor trial: the whole study, which its strategy may extend
  std::filesystem::path database;
  std::string runner_id;             // as launch records have it
  Overseer* overseer = nullptr;      // must be there, and outlive the run
  std::chrono::seconds margin{120};  // at the end of the allocation, in which no block is to run: its signal comes so long before the limit
};

struct EngineOptions {
  std::filesystem::path workspace;
  std::filesystem::path trainer;
  std::string launcher = "local";
  launch::StepLayout step{};          // of launcher srun
  std::optional<PartOptions> part{};  // nullopt: the whole study, alone in the workspace
};

enum class EngineEnd {
  kComplete,        // every trial is done; of a part: of its own
  kInterrupted,     // before its end, see EngineResult::stop; run again to go on
  kControlRefuted,  // the control is not a control: no further trial was started
  kTrialsLeft,      // some attempts could not be launched, were lost or could not be stored; run again to go on
};

struct EngineResult {
  EngineEnd end = EngineEnd::kComplete;
  std::optional<StopCause> stop;     // why it was interrupted
  bool plan_grew = false;            // collect_study: its strategy wants further trials; study.json has them
  std::int64_t num_started = 0;      // attempts, in this run
  std::int64_t num_undone = 0;       // trials; of a part: of its own
  std::int64_t num_blocks_done = 0;  // of a part: begun and completed in this run
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
