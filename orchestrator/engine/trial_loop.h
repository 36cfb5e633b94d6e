// The trials of a plan that are not done, one after another: launch, wait, collect, store, mark done; and before them what another
// controller left. Made by the engine for one run, on its thread.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/base/result.h"
#include "orchestrator/base/rows.h"
#include "orchestrator/engine/engine.h"
#include "orchestrator/engine/listener.h"
#include "orchestrator/engine/settler.h"
#include "orchestrator/engine/study_folder.h"
#include "orchestrator/engine/trial_runner.h"
#include "orchestrator/launch/launcher.h"
#include "orchestrator/store/store.h"

namespace rematch::engine {

class TrialLoop {
 public:
  TrialLoop(const EngineOptions& options, Listener& listener, store::Store& store, launch::Launcher& launcher, const StudyFolder& folder,
            std::string study_id);

  // Settles attempts that ended unseen, or that the database does not have. The error: one that still runs.
  std::optional<base::Error> take_over(const base::StudyPlan& plan);
  // What another runner left half done is to be done again. Nothing outside of an allocation.
  void repeat_half_done_blocks(const base::StudyPlan& plan);
  // Of the part of the plan that is this run's.
  EngineEnd run(const base::StudyPlan& plan, EngineResult& result);

  // Says that this run lives, inside an allocation.
  void beat() { runner_.beat(); }
  bool control_is_refuted() const { return settler_.refutation().has_value(); }
  // Why the run stopped, if it did.
  std::optional<StopCause> stop_cause();
  std::int64_t num_undone(const base::StudyPlan& plan) const;
  // Of those that this run began inside an allocation.
  std::int64_t num_blocks_done(const base::StudyPlan& plan) const;

 private:
  using BlockKey = std::pair<std::string, std::int64_t>;  // group and block

  std::vector<const protocol::Trial*> undone_of(const base::StudyPlan& plan, const BlockKey& block) const;
  bool is_mine(const protocol::Trial& trial) const;
  bool is_gone(const AttemptOnDisk& attempt);
  EngineEnd stop_for_control();
  bool may_start(const base::StudyPlan& plan, const protocol::Trial& trial);
  bool suffices_for_block(const base::StudyPlan& plan, const protocol::Trial& first);
  void run_guarded(const TrialPlace& place, RemainingTime& remaining);
  void run_trial(const TrialPlace& place, const RemainingTime& remaining);

  const EngineOptions& options_;
  Overseer* overseer_;  // nullptr outside of an allocation
  Listener& listener_;
  store::Store& store_;
  launch::Launcher& launcher_;
  const StudyFolder& folder_;
  TrialRunner runner_;
  Settler settler_;
  std::set<BlockKey> blocks_begun_;
  std::optional<StopCause> own_cause_;
};

}  // namespace rematch::engine
