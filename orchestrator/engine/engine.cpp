#include "orchestrator/engine/engine.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "orchestrator/base/study_plan.h"
#include "orchestrator/engine/part.h"
#include "orchestrator/engine/plan_change.h"
#include "orchestrator/engine/study_folder.h"
#include "orchestrator/engine/trial_loop.h"
#include "orchestrator/engine/workspace_lock.h"
#include "orchestrator/launch/launcher.h"
#include "orchestrator/rules/judge.h"
#include "orchestrator/store/store.h"
#include "orchestrator/strategy/extend.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::engine {

namespace {

class Engine {
 public:
  Engine(base::StudyPlan plan, const EngineOptions& options, Listener& listener, store::Store store, launch::Launcher& launcher)
      : plan_(std::move(plan)),
        is_whole_(!options.part || is_whole(options.part->task)),
        listener_(listener),
        store_(std::move(store)),
        folder_(std::filesystem::absolute(protocol::WorkspacePaths{options.workspace}.study(plan_.name, plan_.study_id))),
        loop_(options, listener, store_, launcher, folder_, plan_.study_id) {}

  base::Result<EngineResult> run() {
    EngineResult result;
    std::optional<base::StudyPlan> next = is_whole_ ? folder_.grown_plan(plan_) : std::nullopt;
    if (!next) next = plan_;
    if (is_whole_ && !base::awaits_decision(plan_))  // what a strategy no longer counts it may come to again
      if (const auto change = plan_change(folder_.root(), plan_)) listener_.remarked(base::warning_line(*change));
    for (bool is_first = true; next; is_first = false) {
      tell_decisions(*next);
      plan_ = *std::move(next);
      if (auto problem = take_up_plan()) return *problem;
      if (is_first) loop_.repeat_half_done_blocks(plan_);
      run_round(result);
      const bool goes_on = result.end == EngineEnd::kComplete && is_whole_;
      next = goes_on ? strategy::extend(result.study, result.verdict) : std::nullopt;
    }
    store_.put_verdicts(plan_.study_id, result.verdict);
    return result;
  }

  base::Result<EngineResult> collect() {
    EngineResult result;
    if (auto grown = folder_.grown_plan(plan_)) plan_ = *std::move(grown);
    if (auto problem = take_up_plan()) return *problem;
    judge(result);
    if (loop_.control_is_refuted())
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

  // Everything that is planned so far: on disk first, then what others left of it. The plan of a part is on disk, and not its own.
  std::optional<base::Error> take_up_plan() {
    if (is_whole_) folder_.write_plan(plan_);
    store_.put_plan(plan_);
    return loop_.take_over(plan_);
  }

  void judge(EngineResult& result) {
    result.num_undone = loop_.num_undone(plan_);
    result.num_blocks_done = loop_.num_blocks_done(plan_);
    result.study = store_.load_study(plan_.study_id).value();
    result.verdict = rules::judge_study(result.study);
  }

  // Whatever of the plan is not done, then judged.
  void run_round(EngineResult& result) {
    result.end = loop_.run(plan_, result);
    judge(result);
    decide_end(result);
    result.stop = result.end == EngineEnd::kInterrupted ? loop_.stop_cause() : std::nullopt;
  }

  // Who is superseded is at no end: what is done others have done, and a plan that grows is theirs to write.
  void decide_end(EngineResult& result) {
    loop_.beat();
    if (loop_.stop_cause() == StopCause::kSuperseded) {
      result.end = EngineEnd::kInterrupted;
      return;
    }
    if (result.end == EngineEnd::kComplete && result.num_undone > 0) result.end = EngineEnd::kTrialsLeft;
    const bool is_at_its_end = result.num_undone == 0 && !(is_whole_ && base::awaits_decision(plan_));
    if (result.end == EngineEnd::kInterrupted && is_at_its_end) result.end = EngineEnd::kComplete;  // the last trial still ended
  }

  // Of what the plan in hand does not have: those of whole rounds; the report has them all.
  void tell_decisions(const base::StudyPlan& next) {
    for (std::size_t i = plan_.decisions.size(); i < next.decisions.size(); ++i)
      if (const base::Decision& decision = next.decisions[i]; decision.arm.empty())
        listener_.remarked("strategy " + next.strategy + ", " + std::string(base::to_string(decision.action)) + ": " + decision.reason);
  }

  base::StudyPlan plan_;  // grows
  bool is_whole_;
  Listener& listener_;
  store::Store store_;
  StudyFolder folder_;
  TrialLoop loop_;
};

base::Result<EngineResult> in_workspace(const base::StudyPlan& plan, const EngineOptions& options, Listener& listener,
                                        launch::Launcher& launcher, base::Result<EngineResult> (Engine::*work)()) {
  auto store = store::Store::open(options.part ? options.part->database : protocol::WorkspacePaths{options.workspace}.database());
  if (!store) return store.error();
  return (Engine(plan, options, listener, std::move(store).value(), launcher).*work)();
}

base::Result<EngineResult> with_engine(const base::StudyPlan& plan, const EngineOptions& options, Listener& listener,
                                       base::Result<EngineResult> (Engine::*work)()) {
  auto launcher = launch::make_launcher(options.launcher);
  if (!launcher) return launcher.error();
  std::int64_t most_ranks = 0;
  for (const protocol::Trial& trial : plan.trials)
    most_ranks = std::max(most_ranks, static_cast<std::int64_t>(protocol::started_ranks(trial).size()));
  if (const auto problem = launcher.value()->refuse(most_ranks)) return *problem;
  if (options.part) return in_workspace(plan, options, listener, *launcher.value(), work);
  const auto lock = WorkspaceLock::take(options.workspace, plan.name + "-" + plan.study_id);
  if (!lock) return lock.error();
  return in_workspace(plan, options, listener, *launcher.value(), work);
}

}  // namespace

base::Result<EngineResult> carry_out(const base::StudyPlan& plan, const EngineOptions& options, Listener& listener) {
  return with_engine(plan, options, listener, &Engine::run);
}

base::Result<EngineResult> collect_study(const base::StudyPlan& plan, const EngineOptions& options, Listener& listener) {
  return with_engine(plan, options, listener, &Engine::collect);
}

}  // namespace rematch::engine
