#include "orchestrator/engine/trial_loop.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <system_error>
#include <vector>

#include "orchestrator/base/warnings.h"
#include "orchestrator/engine/part.h"
#include "orchestrator/engine/repeat_block.h"
#include "orchestrator/launch/full_disk.h"
#include "orchestrator/rules/conclusive.h"

namespace rematch::engine {

namespace {

using Milliseconds = std::chrono::milliseconds;

// Whoever ends a job signals each of its processes in turn: a trial may end by that before this process has heard of it.
constexpr Milliseconds kSignalLag{500};

// A supervisor whose controller was killed needs its grace and a little more to end its ranks. On another node it may be longer until the
// file system lets go of its lock.
constexpr Milliseconds kLeftoverDeadline{15'000};
constexpr Milliseconds kLeftoverDeadlineElsewhere{120'000};

using AttemptKey = std::pair<std::string, std::int64_t>;

std::set<AttemptKey> stored_attempts(const base::StudyRows& study) {
  std::set<AttemptKey> keys;
  for (const base::AttemptRows& attempt : study.attempts) keys.emplace(attempt.trial.trial_id, attempt.attempt);
  return keys;
}

std::string name_of(const protocol::Trial& trial) {
  return trial.arm + " (block " + std::to_string(trial.block) + ", slot " + std::to_string(trial.slot) + ", trial " + trial.trial_id + ")";
}

std::string whole_seconds(double seconds) { return std::to_string(std::llround(seconds)) + " s"; }

// What every further trial would meet as well: the sweep stops.
bool concerns_every_trial(const std::exception& problem) {
  if (const auto* refused = dynamic_cast<const std::system_error*>(&problem))
    return launch::is_full_disk(refused->code()) || refused->code() == std::errc::read_only_file_system;
  const auto* store = dynamic_cast<const store::StoreError*>(&problem);
  return store != nullptr && store->problem() != store::StoreProblem::kOther;
}

}  // namespace

TrialLoop::TrialLoop(const EngineOptions& options, Listener& listener, store::Store& store, launch::Launcher& launcher,
                     const StudyFolder& folder, std::string study_id)
    : options_(options),
      overseer_(options.part ? options.part->overseer : nullptr),
      listener_(listener),
      store_(store),
      launcher_(launcher),
      folder_(folder),
      runner_(launcher, {options.trainer, options.step}, listener, overseer_),
      settler_(store, folder, runner_, std::move(study_id)) {}

std::optional<base::Error> TrialLoop::take_over(const base::StudyPlan& plan) {
  const base::StudyRows study = store_.load_study(plan.study_id).value();
  for (const base::AttemptRows& attempt : study.attempts) settler_.note(attempt);
  const std::set<AttemptKey> stored = stored_attempts(study);
  for (const protocol::Trial& trial : plan.trials) {
    if (!is_mine(trial)) continue;
    for (const AttemptOnDisk& attempt : folder_.attempts(trial.trial_id)) {
      if (attempt.is_done && stored.contains({trial.trial_id, attempt.attempt})) continue;
      if (!is_gone(attempt)) {
        if (stop_cause()) return std::nullopt;  // then nothing is started either
        return base::Error{"a process of " + attempt.folder.string() + ", which another controller started, still runs after " +
                           std::to_string((overseer_ == nullptr ? kLeftoverDeadline : kLeftoverDeadlineElsewhere).count() / 1000) +
                           " s. End it (`rematch doctor` names it), then run again"};
      }
      settler_.settle(trial, attempt, Whose::kLeft);
    }
  }
  return std::nullopt;
}

void TrialLoop::repeat_half_done_blocks(const base::StudyPlan& plan) {
  if (!options_.part || control_is_refuted() || stop_cause() == StopCause::kSuperseded) return;
  std::set<std::int64_t> blocks;
  for (const SupersededAttempt& each : supersede_half_done_blocks(plan, options_.part->task, folder_, options_.part->runner_id)) {
    settler_.settle(each.trial, each.attempt, Whose::kLeft);
    if (blocks.insert(each.trial.block).second)
      listener_.remarked("block " + std::to_string(each.trial.block) +
                         " was left half done by another runner: it is repeated whole, and what was done of it is set aside");
  }
}

EngineEnd TrialLoop::run(const base::StudyPlan& plan, EngineResult& result) {
  RemainingTime remaining(num_undone(plan));
  const auto num_trials = static_cast<std::int64_t>(plan.trials.size());
  std::int64_t number = 0;
  for (const protocol::Trial& trial : plan.trials) {
    ++number;
    if (control_is_refuted()) return stop_for_control();
    if (!is_mine(trial) || folder_.is_done(trial.trial_id)) continue;
    if (!may_start(plan, trial)) return EngineEnd::kInterrupted;
    ++result.num_started;
    run_guarded({trial, 1, number, num_trials}, remaining);
  }
  if (control_is_refuted()) return stop_for_control();
  return stop_cause() ? EngineEnd::kInterrupted : EngineEnd::kComplete;
}

std::optional<StopCause> TrialLoop::stop_cause() {
  const auto cause = runner_.stop_cause();
  return cause ? cause : own_cause_;
}

std::int64_t TrialLoop::num_undone(const base::StudyPlan& plan) const {
  return std::count_if(plan.trials.begin(), plan.trials.end(),
                       [&](const protocol::Trial& trial) { return is_mine(trial) && !folder_.is_done(trial.trial_id); });
}

std::vector<const protocol::Trial*> TrialLoop::undone_of(const base::StudyPlan& plan, const BlockKey& block) const {
  std::vector<const protocol::Trial*> undone;
  for (const protocol::Trial& trial : plan.trials)
    if (is_mine(trial) && BlockKey{trial.group_id, trial.block} == block && !folder_.is_done(trial.trial_id)) undone.push_back(&trial);
  return undone;
}

std::int64_t TrialLoop::num_blocks_done(const base::StudyPlan& plan) const {
  return std::count_if(blocks_begun_.begin(), blocks_begun_.end(), [&](const BlockKey& block) { return undone_of(plan, block).empty(); });
}

bool TrialLoop::is_mine(const protocol::Trial& trial) const { return !options_.part || is_of_part(options_.part->task, trial); }

// What is done had ended before it was marked. In an allocation this run says meanwhile that it lives.
bool TrialLoop::is_gone(const AttemptOnDisk& attempt) {
  if (attempt.is_done) return true;
  if (overseer_ == nullptr) return launcher_.wait_until_gone(attempt.folder, {kLeftoverDeadline});
  auto beaten = std::chrono::steady_clock::now();
  return launcher_.wait_until_gone(attempt.folder, {kLeftoverDeadlineElsewhere, [&] {
                                                      const auto now = std::chrono::steady_clock::now();
                                                      if (now - beaten < kBeatInterval) return true;
                                                      beaten = now;
                                                      runner_.beat();
                                                      return !stop_cause();
                                                    }});
}

EngineEnd TrialLoop::stop_for_control() {
  listener_.remarked(base::warning_line(base::WarningId::kControlRefuted,
                                        "the control is not a control, so nothing can be set against it: " + *settler_.refutation()));
  return EngineEnd::kControlRefuted;
}

bool TrialLoop::may_start(const base::StudyPlan& plan, const protocol::Trial& trial) {
  if (overseer_ != nullptr) {
    runner_.beat();
    if (!own_cause_) own_cause_ = overseer_->before_trial();
  }
  if (stop_cause()) return false;
  if (overseer_ != nullptr && !suffices_for_block(plan, trial)) own_cause_ = StopCause::kTooLittleTime;
  return !own_cause_;
}

// Of a block that is begun nothing is asked: the limit's signal ends it if it must be.
bool TrialLoop::suffices_for_block(const base::StudyPlan& plan, const protocol::Trial& first) {
  const bool is_first_of_all = blocks_begun_.empty();
  const BlockKey block{first.group_id, first.block};
  if (!blocks_begun_.insert(block).second) return true;
  const auto left = overseer_->time_left();
  const std::chrono::seconds margin = options_.part->margin;
  const auto expected_s = settler_.block_time().expected(undone_of(plan, block));
  if (!left || !expected_s || *expected_s <= static_cast<double>((*left - margin).count())) return true;
  const std::string why = "block " + std::to_string(first.block) + " takes about " + whole_seconds(*expected_s) + ", and " +
                          whole_seconds(static_cast<double>(left->count())) + " of the allocation are left, of which " +
                          whole_seconds(static_cast<double>(margin.count())) + " are kept for ending";
  listener_.remarked(
      is_first_of_all ? base::warning_line(base::WarningId::kTimeMayNotSuffice,
                                           why + ". It is started all the same: it is the first, and the next allocation would be as long")
                      : why + ". It is left to the next allocation");
  return is_first_of_all;
}

// A trial that breaks the controller is left undone; it does not stop the sweep unless the next one would do the same.
void TrialLoop::run_guarded(const TrialPlace& place, RemainingTime& remaining) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    run_trial(place, remaining);
  } catch (const std::exception& problem) {
    listener_.remarked(name_of(place.trial) + " could not be carried out: " + problem.what());
    if (concerns_every_trial(problem)) throw;
  }
  remaining.trial_took(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

void TrialLoop::run_trial(const TrialPlace& planned, const RemainingTime& remaining) {
  const AttemptOnDisk attempt = folder_.begin_attempt(planned.trial);
  const TrialPlace place{planned.trial, attempt.attempt, planned.number, planned.num_trials};
  listener_.trial_started(place);
  const auto record = runner_.run(place, attempt, remaining);
  if (!record) listener_.remarked(record.error().message);
  const bool ended_badly = !record || record.value().end != protocol::LaunchEnd::kAllExited;
  if (overseer_ != nullptr && ended_badly) runner_.await_stop_cause(kSignalLag);
  const base::AttemptRows rows = settler_.settle(place.trial, attempt, Whose::kOwn);
  listener_.trial_ended(place, rows);
  if (overseer_ != nullptr && !own_cause_ && !rules::is_conclusive(rows)) own_cause_ = overseer_->after_inconclusive(rows);
}

}  // namespace rematch::engine
