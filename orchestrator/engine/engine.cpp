#include "orchestrator/engine/engine.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "orchestrator/base/study_plan.h"
#include "orchestrator/collect/collect.h"
#include "orchestrator/engine/plan_change.h"
#include "orchestrator/engine/remaining_time.h"
#include "orchestrator/engine/study_folder.h"
#include "orchestrator/engine/trial_runner.h"
#include "orchestrator/engine/workspace_lock.h"
#include "orchestrator/launch/launcher.h"
#include "orchestrator/rules/conclusive.h"
#include "orchestrator/rules/control_attested.h"
#include "orchestrator/rules/judge.h"
#include "orchestrator/store/store.h"
#include "orchestrator/strategy/extend.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::engine {

namespace {

// A supervisor whose controller was killed needs its grace and a little more to end its ranks.
constexpr std::chrono::milliseconds kLeftoverDeadline{15'000};

using AttemptKey = std::pair<std::string, std::int64_t>;

std::set<AttemptKey> stored_attempts(const base::StudyRows& study) {
  std::set<AttemptKey> keys;
  for (const base::AttemptRows& attempt : study.attempts) keys.emplace(attempt.trial.trial_id, attempt.attempt);
  return keys;
}

std::optional<std::string> refuted_control(const base::AttemptRows& attempt) {
  if (!attempt.trial.is_control || !rules::is_conclusive(attempt)) return std::nullopt;
  const auto shortfall = rules::control_refuted(attempt);
  return shortfall ? std::optional(shortfall->message) : std::nullopt;
}

std::string name_of(const protocol::Trial& trial) {
  return trial.arm + " (block " + std::to_string(trial.block) + ", slot " + std::to_string(trial.slot) + ", trial " + trial.trial_id + ")";
}

// What every further trial would meet as well: the sweep stops.
bool concerns_every_trial(const std::exception& problem) {
  if (const auto* refused = dynamic_cast<const std::system_error*>(&problem))
    return refused->code() == std::errc::no_space_on_device || refused->code() == std::errc::read_only_file_system;
  const auto* store = dynamic_cast<const store::StoreError*>(&problem);
  return store != nullptr && store->problem() != store::StoreProblem::kOther;
}

class Engine {
 public:
  Engine(base::StudyPlan plan, const EngineOptions& options, Listener& listener, store::Store store, launch::Launcher& launcher)
      : plan_(std::move(plan)),
        listener_(listener),
        store_(std::move(store)),
        launcher_(launcher),
        folder_(std::filesystem::absolute(protocol::WorkspacePaths{options.workspace}.study(plan_.name, plan_.study_id))),
        runner_(launcher, options.trainer, listener) {}

  base::Result<EngineResult> run() {
    EngineResult result;
    std::optional<base::StudyPlan> next = folder_.grown_plan(plan_);
    if (!next) next = plan_;
    if (!base::awaits_decision(plan_))  // what a strategy no longer counts it may come to again
      if (const auto change = plan_change(folder_.root(), plan_)) listener_.remarked(*change);
    while (next) {
      tell_decisions(*next);
      plan_ = *std::move(next);
      if (auto problem = run_round(result)) return *problem;
      next = result.end == EngineEnd::kComplete ? strategy::extend(result.study, result.verdict) : std::nullopt;
    }
    store_.put_verdicts(plan_.study_id, result.verdict);
    return result;
  }

  base::Result<EngineResult> collect() {
    EngineResult result;
    if (auto grown = folder_.grown_plan(plan_)) plan_ = *std::move(grown);
    if (auto problem = take_up_plan()) return *problem;
    judge(result);
    if (refutation_)
      result.end = EngineEnd::kControlRefuted;
    else if (result.num_undone > 0)
      result.end = EngineEnd::kTrialsLeft;
    else if (const auto next = strategy::extend(result.study, result.verdict))
      grow(*next, result);
    store_.put_verdicts(plan_.study_id, result.verdict);
    return result;
  }

 private:
  void grow(const base::StudyPlan& next, EngineResult& result) {
    tell_decisions(next);
    plan_ = next;
    folder_.write_plan(plan_);
    store_.put_plan(plan_);
    result.plan_grew = true;
    judge(result);
  }

  std::optional<base::Error> take_up_plan() {
    folder_.write_plan(plan_);
    store_.put_plan(plan_);
    return take_over_attempts();
  }

  void judge(EngineResult& result) {
    result.num_undone = static_cast<std::int64_t>(plan_.trials.size()) - folder_.num_done(plan_);
    result.study = store_.load_study(plan_.study_id).value();
    result.verdict = rules::judge_study(result.study);
  }

  // Everything that is planned so far: on disk first, then whatever of it is not done, then judged.
  std::optional<base::Error> run_round(EngineResult& result) {
    if (auto problem = take_up_plan()) return problem;
    result.end = run_trials(result);
    judge(result);
    if (result.end == EngineEnd::kComplete && result.num_undone > 0) result.end = EngineEnd::kTrialsLeft;
    const bool is_at_its_end = result.num_undone == 0 && !base::awaits_decision(plan_);
    if (result.end == EngineEnd::kInterrupted && is_at_its_end) result.end = EngineEnd::kComplete;  // the last trial still ended
    return std::nullopt;
  }

  // Of what the plan in hand does not have: those of whole rounds; the report has them all.
  void tell_decisions(const base::StudyPlan& next) {
    for (std::size_t i = plan_.decisions.size(); i < next.decisions.size(); ++i)
      if (const base::Decision& decision = next.decisions[i]; decision.arm.empty())
        listener_.remarked("strategy " + next.strategy + ", " + std::string(base::to_string(decision.action)) + ": " + decision.reason);
  }

  // What another controller left: attempts that ended unseen, or that the database does not have.
  std::optional<base::Error> take_over_attempts() {
    const base::StudyRows study = store_.load_study(plan_.study_id).value();
    for (const base::AttemptRows& attempt : study.attempts) note_control(attempt);
    const std::set<AttemptKey> stored = stored_attempts(study);
    for (const protocol::Trial& trial : plan_.trials)
      for (const AttemptOnDisk& attempt : folder_.attempts(trial.trial_id)) {
        if (attempt.is_done && stored.contains({trial.trial_id, attempt.attempt})) continue;
        if (!launcher_.wait_until_gone(attempt.folder, kLeftoverDeadline))
          return base::Error{"a process of " + attempt.folder.string() + ", which another controller started, still runs after " +
                             std::to_string(kLeftoverDeadline.count() / 1000) + " s. End it (`rematch doctor` names it), then run again"};
        settle(trial, attempt);
      }
    return std::nullopt;
  }

  EngineEnd run_trials(EngineResult& result) {
    const std::int64_t num_trials = static_cast<std::int64_t>(plan_.trials.size());
    RemainingTime remaining(num_trials - folder_.num_done(plan_));
    for (std::int64_t number = 1; number <= num_trials; ++number) {
      if (refutation_) return stop_for_control();
      const protocol::Trial& trial = plan_.trials[static_cast<std::size_t>(number - 1)];
      if (folder_.is_done(trial.trial_id)) continue;
      if (runner_.interrupted()) return EngineEnd::kInterrupted;
      ++result.num_started;
      run_guarded(trial, number, remaining);
    }
    if (refutation_) return stop_for_control();
    return runner_.interrupted() ? EngineEnd::kInterrupted : EngineEnd::kComplete;
  }

  EngineEnd stop_for_control() {
    listener_.remarked("the control is not a control, so nothing can be set against it: " + *refutation_);
    return EngineEnd::kControlRefuted;
  }

  // A trial that breaks the controller is left undone; it does not stop the sweep unless the next one would do the same.
  void run_guarded(const protocol::Trial& trial, std::int64_t number, RemainingTime& remaining) {
    const auto begin = std::chrono::steady_clock::now();
    try {
      run_trial(trial, number, remaining);
    } catch (const std::exception& problem) {
      listener_.remarked(name_of(trial) + " could not be carried out: " + problem.what());
      if (concerns_every_trial(problem)) throw;
    }
    remaining.trial_took(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }

  void run_trial(const protocol::Trial& trial, std::int64_t number, const RemainingTime& remaining) {
    const AttemptOnDisk attempt = folder_.begin_attempt(trial);
    const TrialPlace place{trial, attempt.attempt, number, static_cast<std::int64_t>(plan_.trials.size())};
    listener_.trial_started(place);
    const auto record = runner_.run(place, attempt, remaining);
    if (!record) listener_.remarked(record.error().message);
    listener_.trial_ended(place, settle(trial, attempt));
  }

  // Collect, store, then mark done: in this order, so that what is marked is stored.
  base::AttemptRows settle(const protocol::Trial& trial, const AttemptOnDisk& attempt) {
    base::AttemptRows rows = collect::collect_attempt(attempt.folder, plan_.study_id);
    store_.put_attempt(rows);
    note_control(rows);
    if (!attempt.is_done && rules::is_conclusive(rows)) folder_.mark_done(attempt, trial.trial_id);
    return rows;
  }

  void note_control(const base::AttemptRows& attempt) {
    if (!refutation_) refutation_ = refuted_control(attempt);
  }

  base::StudyPlan plan_;  // grows
  Listener& listener_;
  store::Store store_;
  launch::Launcher& launcher_;
  StudyFolder folder_;
  TrialRunner runner_;
  std::optional<std::string> refutation_;
};

}  // namespace

namespace {

base::Result<EngineResult> with_engine(const base::StudyPlan& plan, const EngineOptions& options, Listener& listener,
                                       base::Result<EngineResult> (Engine::*work)()) {
  auto launcher = launch::make_launcher(options.launcher);
  if (!launcher) return launcher.error();
  std::int64_t most_ranks = 0;
  for (const protocol::Trial& trial : plan.trials)
    most_ranks = std::max(most_ranks, static_cast<std::int64_t>(protocol::started_ranks(trial).size()));
  if (const auto problem = launcher.value()->refuse(most_ranks)) return *problem;
  const auto lock = WorkspaceLock::take(options.workspace, plan.name + "-" + plan.study_id);
  if (!lock) return lock.error();
  auto store = store::Store::open(protocol::WorkspacePaths{options.workspace}.database());
  if (!store) return store.error();
  return (Engine(plan, options, listener, std::move(store).value(), *launcher.value()).*work)();
}

}  // namespace

base::Result<EngineResult> carry_out(const base::StudyPlan& plan, const EngineOptions& options, Listener& listener) {
  return with_engine(plan, options, listener, &Engine::run);
}

base::Result<EngineResult> collect_study(const base::StudyPlan& plan, const EngineOptions& options, Listener& listener) {
  return with_engine(plan, options, listener, &Engine::collect);
}

}  // namespace rematch::engine
