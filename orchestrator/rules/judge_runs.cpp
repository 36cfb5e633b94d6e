#include "orchestrator/rules/judge_runs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "orchestrator/base/predicted.h"
#include "orchestrator/rules/conclusive.h"
#include "orchestrator/rules/control_attested.h"
#include "orchestrator/rules/inactive.h"
#include "orchestrator/rules/loss_match.h"
#include "orchestrator/rules/match.h"
#include "orchestrator/rules/narrowness.h"
#include "orchestrator/rules/pass.h"
#include "orchestrator/rules/rank_peak.h"
#include "orchestrator/rules/run_figures.h"
#include "orchestrator/rules/steady_steps.h"

namespace rematch::rules {

namespace {

using base::AttemptRows;
using base::Outcome;
using base::RunVerdict;

Outcome inconclusive_outcome(const base::Failure& failure) {
  const bool was_stopped = failure.kind == protocol::FailureKind::kInterrupted || failure.kind == protocol::FailureKind::kPreempted;
  return was_stopped ? Outcome::kInterrupted : Outcome::kLost;
}

void decide_outcome(const AttemptRows& attempt, RunVerdict& run) {
  if (!is_conclusive(attempt)) {
    run.outcome = inconclusive_outcome(*attempt.failure);
    return;
  }
  if (attempt.trial.is_control) {
    if (auto refuted = control_refuted(attempt)) {
      run.shortfalls.push_back(*refuted);
      run.outcome = Outcome::kInvalid;
      return;
    }
  } else if (auto reason = inactive_reason(attempt)) {
    run.shortfalls.push_back({"inactive", *reason});
    run.outcome = Outcome::kInactive;
    return;
  }
  if (!attempt.failure) run.shortfalls = pass_shortfalls(attempt);
  run.outcome = attempt.failure || !run.shortfalls.empty() ? Outcome::kFail : Outcome::kPass;
}

RunVerdict judge_alone(const AttemptRows& attempt) {
  RunVerdict run;
  run.trial_id = attempt.trial.trial_id;
  run.arm = attempt.trial.arm;
  run.block = attempt.trial.block;
  run.slot = attempt.trial.slot;
  run.attempt = attempt.attempt;
  run.failure = attempt.failure;
  run.rank_peaks = peaks_of_ranks(attempt);
  decide_outcome(attempt, run);
  return run;
}

using Runs = std::vector<RunVerdict>;
using UnmatchedList = std::vector<base::Unmatched>;

// A control that ran out of memory may still have losses of the steps before.
const AttemptRows* control_with_losses(const base::StudyRows& study, const UnmatchedList& unmatched, const Runs& runs, Outcome outcome) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const AttemptRows& attempt = study.attempts[i];
    if (attempt.trial.is_control && runs[i].outcome == outcome && num_steps_completed(attempt) > 0 && !is_unmatched(unmatched, attempt))
      return &attempt;
  }
  return nullptr;
}

const AttemptRows* narrowest_pass(const base::StudyRows& study, const UnmatchedList& unmatched, const Runs& runs) {
  const AttemptRows* narrowest = nullptr;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const AttemptRows& attempt = study.attempts[i];
    if (runs[i].outcome != Outcome::kPass || is_unmatched(unmatched, attempt)) continue;
    if (narrowest == nullptr || width_of(attempt.trial.recompute) < width_of(narrowest->trial.recompute)) narrowest = &attempt;
  }
  return narrowest;
}

void match_losses(const base::StudyRows& study, const UnmatchedList& unmatched, const AttemptRows* reference, Runs& runs) {
  if (reference == nullptr) return;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const AttemptRows& attempt = study.attempts[i];
    if (runs[i].outcome != Outcome::kPass || &attempt == reference || is_unmatched(unmatched, attempt)) continue;
    const std::string basis = loss_basis(attempt, *reference);
    runs[i].loss_basis += (runs[i].loss_basis.empty() || basis.empty() ? "" : "; ") + basis;
    auto mismatch = loss_mismatch(attempt, *reference);
    if (!mismatch) continue;
    runs[i].shortfalls.push_back(*mismatch);
    runs[i].outcome = Outcome::kFail;
  }
}

void match_all_losses(const base::StudyRows& study, const UnmatchedList& unmatched, Runs& runs) {
  if (base::is_predicted(study.plan)) return;  // there are none
  if (const AttemptRows* control = control_with_losses(study, unmatched, runs, Outcome::kPass)) {
    match_losses(study, unmatched, control, runs);
    return;
  }
  match_losses(study, unmatched, control_with_losses(study, unmatched, runs, Outcome::kFail), runs);
  match_losses(study, unmatched, narrowest_pass(study, unmatched, runs), runs);
}

}  // namespace

std::vector<RunVerdict> judge_runs(const base::StudyRows& study, const UnmatchedList& unmatched) {
  Runs runs;
  for (const AttemptRows& attempt : study.attempts) runs.push_back(judge_alone(attempt));
  match_all_losses(study, unmatched, runs);
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (runs[i].outcome == Outcome::kPass) runs[i].figures = run_figures(study.attempts[i]);
  return runs;
}

std::vector<std::size_t> judged_attempts(const base::StudyRows& study, const std::string& arm) {
  std::map<std::string, std::size_t> last_conclusive;  // by trial
  for (std::size_t i = 0; i < study.attempts.size(); ++i)
    if (study.attempts[i].trial.arm == arm && is_conclusive(study.attempts[i])) last_conclusive[study.attempts[i].trial.trial_id] = i;
  std::vector<std::size_t> judged;
  for (const auto& [trial_id, index] : last_conclusive) judged.push_back(index);
  std::sort(judged.begin(), judged.end());
  return judged;
}

}  // namespace rematch::rules
