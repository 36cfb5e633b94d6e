// An attempt that is over, from its folder to its mark: collected, stored, then marked done, or set aside where its run was ended under it.
// Keeps what the trials so far say of those to come. Owned by TrialLoop, its thread.
#pragma once

#include <optional>
#include <string>

#include "orchestrator/base/rows.h"
#include "orchestrator/engine/block_time.h"
#include "orchestrator/engine/study_folder.h"
#include "orchestrator/engine/trial_runner.h"
#include "orchestrator/store/store.h"

namespace rematch::engine {

enum class Whose { kOwn, kLeft };  // whether an attempt ended under this run's eyes

class Settler {
 public:
  // All must outlive it.
  Settler(store::Store& store, const StudyFolder& folder, TrialRunner& runner, std::string study_id)
      : store_(store), folder_(folder), runner_(runner), study_id_(std::move(study_id)) {}

  // In this order, so that what is marked is stored. A run that is superseded leaves no mark.
  base::AttemptRows settle(const protocol::Trial& trial, const AttemptOnDisk& attempt, Whose whose);
  // Of an attempt that is stored already.
  void note(const base::AttemptRows& attempt);

  // Why the control is none; nullopt: nothing says so.
  const std::optional<std::string>& refutation() const { return refutation_; }
  const BlockTime& block_time() const { return block_time_; }

 private:
  bool was_cut_short(const base::AttemptRows& attempt, Whose whose);

  store::Store& store_;
  const StudyFolder& folder_;
  TrialRunner& runner_;
  std::string study_id_;
  BlockTime block_time_;
  std::optional<std::string> refutation_;
};

}  // namespace rematch::engine
