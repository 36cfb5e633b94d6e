// What becomes of each part that a follower watches: the facts, the decision, and what it says of it.
#include <utility>

#include "orchestrator/base/study_plan.h"
#include "orchestrator/base/warnings.h"
#include "orchestrator/slurm/follow.h"
#include "orchestrator/slurm/launch_problem.h"

namespace rematch::slurm {

using protocol::RunnerEnd;
using protocol::RunnerRecord;
using protocol::Submission;

bool Follower::is_part_done(Part& part, const RunnerRecord* runner, bool is_over) {
  const bool has_ended = runner != nullptr && runner->end.has_value();
  if (part.is_done.value_or(false)) return true;
  if (part.is_done && !has_ended && !is_over) return false;
  bool is_done = trials_.is_done(part.task);
  const bool is_whole_study = !part.task.block && !part.task.trial_id;
  if (is_whole_study && base::awaits_decision(trials_.plan())) is_done = is_done && has_ended && runner->end == RunnerEnd::kComplete;
  part.is_done = is_done;
  return is_done;
}

bool Follower::is_past(const Part& part) const {
  if (submitter_.has_submitted(part.submission)) return false;
  if (const auto cancel = open_.at(part.submission).cancel_unix_ns) return *cancel < begin_unix_ns_;
  return !part.was_active;
}

PartFacts Follower::facts_of(Part& part, Time now) {
  const Submission& submission = open_.at(part.submission);
  const RunnerRecord* runner = runners_.newest(part.scope);
  PartFacts facts;
  facts.runner_is_alive = runners_.is_alive(part.scope, now);
  facts.is_done = is_part_done(part, runner, part.end_seen.has_value());
  if (runner != nullptr && runner->submission == part.submission) {
    facts.runner_end = runner->end;
    facts.runner_message = runner->message;
    facts.has_runner = true;
  }
  facts.study_id = submission.study_id;
  facts.exit_code_before = exit_codes_before_[part.scope];
  facts.is_cancelled = submission.cancel_unix_ns.has_value();
  facts.is_past = is_past(part);
  facts.job = part.job;
  if (part.row) {
    facts.state = part.row->state;
    facts.reason = part.row->reason;
    if (part.end_seen && !part.row->signal) facts.exit_code = part.row->exit_code;
  }
  if (part.end_seen) {
    facts.seconds_since_end = std::chrono::duration<double>(now - *part.end_seen).count();
    facts.has_progressed = !facts.is_done && trials_.has_block_since(part.task, submission.intent_unix_ns);
    if (facts.runner_end == RunnerEnd::kTrialsLeft)
      facts.launch_problem =
          common_launch_problem(trials_.plan(), engine::StudyFolder(store_.paths().root), part.task, submission.intent_unix_ns);
  }
  if (facts.has_progressed) num_retries_[part.scope] = 0;
  facts.num_retries = num_retries_[part.scope];
  return facts;
}

void Follower::act(Part& part, Time now) {
  PartFacts facts = facts_of(part, now);
  Decision decision = decide(facts);
  if (decision.step != Step::kWait && decision.step != Step::kDone) {  // what is not there must not merely be unseen
    const bool is_fresh = look_afresh(part, now);
    facts = facts_of(part, now);
    if (!is_fresh && part.end_seen && facts.seconds_since_end < kStaleFolderSeconds) return;
    decision = decide(facts);
  }
  tell(part, decision);
  switch (decision.step) {
    case Step::kWait: return;
    case Step::kDone: break;
    case Step::kCancelAndSubmitAgain:
    case Step::kSubmitAgain:
      if (decision.step == Step::kCancelAndSubmitAgain && !cancel(part, now)) return;
      if (decision.is_counted) ++num_retries_[part.scope];
      exit_codes_before_[part.scope] = facts.has_runner || facts.state != JobState::kFailed ? std::nullopt : facts.exit_code;
      again_.push_back(part.task);
      part.message = decision.reason;
      break;
    case Step::kCancelAndStop:
    case Step::kStop:
      if (decision.step == Step::kCancelAndStop && !cancel(part, now)) return;
      stops_.push_back({part.scope, decision.stop, decision.reason});
      part.message = decision.reason;
      break;
  }
  part.is_settled = true;
}

bool Follower::cancel(Part& part, Time now) {
  if (!policy_.may_call(now)) return false;  // next time
  policy_.called(now);
  const auto problem = cluster_.cancel_row(*part.row);
  if (!problem) part.end_seen = now;
  if (problem)
    watcher_.remarked(
        base::warning_line(base::WarningId::kJobNotCancelled, "the job of " + part.scope + " could not be cancelled: " + problem->message));
  return !problem;
}

// What a reader should know: not that a runner works or a job waits for its turn, which sighted() shows.
void Follower::tell(Part& part, const Decision& decision) {
  const bool is_quiet = decision.step == Step::kDone || (decision.step == Step::kWait && decision.id != "held");
  if (is_quiet || part.told == decision.id) return;
  part.told = decision.id;
  const bool submits = decision.step == Step::kSubmitAgain || decision.step == Step::kCancelAndSubmitAgain;
  watcher_.remarked(part.scope + " (job " + part.submission + "): " + decision.reason + (submits ? "; it is submitted again" : ""));
}

}  // namespace rematch::slurm
