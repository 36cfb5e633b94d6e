#include "orchestrator/engine/plan_change.h"

#include <algorithm>
#include <set>
#include <string>

#include "orchestrator/base/study_plan.h"
#include "orchestrator/engine/study_folder.h"
#include "schemas/protocol/document_error.h"

namespace rematch::engine {

namespace {

std::optional<base::StudyPlan> planned_before(const std::filesystem::path& study_folder) {
  const auto path = protocol::StudyPaths{study_folder}.plan();
  if (!std::filesystem::exists(path)) return std::nullopt;
  try {
    return base::read_study_plan(path.string());
  } catch (const protocol::DocumentError&) {
    return std::nullopt;  // it is written anew
  }
}

}  // namespace

std::optional<base::Warning> plan_change(const std::filesystem::path& study_folder, const base::StudyPlan& plan) {
  const auto before = planned_before(study_folder);
  if (!before) return std::nullopt;
  std::set<std::string> wanted;
  for (const protocol::Trial& trial : plan.trials) wanted.insert(trial.trial_id);
  const StudyFolder folder(study_folder);
  const auto num_lost = std::count_if(before->trials.begin(), before->trials.end(), [&](const protocol::Trial& trial) {
    return !wanted.contains(trial.trial_id) && folder.is_done(trial.trial_id);
  });
  if (num_lost == 0) return std::nullopt;
  const auto num_left = static_cast<std::int64_t>(plan.trials.size()) - folder.num_done(plan);
  const bool other_trainer = before->trainer_build_id != plan.trainer_build_id;
  const std::string why = other_trainer ? "the trainer is another build (" + before->trainer_build_id + " before, " +
                                              plan.trainer_build_id + " now), and figures of two builds are not compared"
                                        : "the sweep asks for other trials than before";
  const auto id = other_trainer ? base::WarningId::kOtherTrainerBuild : base::WarningId::kOtherTrials;
  const std::string text = why + ": " + std::to_string(num_lost) + " done trials of the former plan count no more (their folders stay), " +
                           std::to_string(num_left) + " of " + std::to_string(plan.trials.size()) + " trials are to be run";
  return base::Warning{id, text};
}

}  // namespace rematch::engine
