#include "orchestrator/slurm/decide.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace rematch::slurm {
namespace {

using protocol::RunnerEnd;

struct Case {
  std::string row;  // that decides it
  PartFacts facts;
  Step step;
  StopKind stop = StopKind::kEnvironment;
};

PartFacts seen(JobState state, const std::string& reason = "") {
  PartFacts facts;
  facts.job = JobSight::kSeen;
  facts.state = state;
  facts.reason = reason;
  facts.seconds_since_end = 60;
  return facts;
}

PartFacts gone() {
  PartFacts facts = seen(JobState::kOther);
  facts.job = JobSight::kGone;
  return facts;
}

PartFacts with(PartFacts facts, RunnerEnd end) {
  facts.runner_end = end;
  return facts;
}

PartFacts done(PartFacts facts) {
  facts.is_done = true;
  return facts;
}

PartFacts alive(PartFacts facts) {
  facts.runner_is_alive = true;
  return facts;
}

PartFacts cancelled(PartFacts facts) {
  facts.is_cancelled = true;
  return facts;
}

PartFacts past(PartFacts facts) {
  facts.is_past = true;
  return facts;
}

PartFacts progressed(PartFacts facts) {
  facts.has_progressed = true;
  return facts;
}

PartFacts just_now(PartFacts facts) {
  facts.seconds_since_end = 1;
  return facts;
}

PartFacts unlaunched(PartFacts facts) {
  facts.launch_problem = "srun: unrecognized option";
  return facts;
}

PartFacts exited(PartFacts facts, std::int64_t code, std::optional<std::int64_t> before) {
  facts.exit_code = code;
  facts.exit_code_before = before;
  return facts;
}

PartFacts begun(PartFacts facts) {
  facts.has_runner = true;
  return facts;
}

std::vector<Case> cases() {
  using enum JobState;
  return {
      {"done", done(seen(kFailed)), Step::kDone},
      {"done", done(gone()), Step::kDone},
      {"done", done(seen(kRunning)), Step::kDone},
      {"done", done(cancelled(seen(kCancelled))), Step::kDone},
      {"done", done(alive(seen(kCompleted))), Step::kDone},
      {"done", done(PartFacts{}), Step::kDone},
      {"control-refuted", with(seen(kRunning), RunnerEnd::kControlRefuted), Step::kDone},
      {"cancelled-before", past(cancelled(seen(kCancelled))), Step::kSubmitAgain},
      {"cancelled-before", past(cancelled(gone())), Step::kSubmitAgain},
      {"cancelled-before", past(seen(kCancelled)), Step::kSubmitAgain},
      {"cancelled-before", past(with(gone(), RunnerEnd::kInterrupted)), Step::kSubmitAgain},
      {"runner-lives", past(alive(with(gone(), RunnerEnd::kInterrupted))), Step::kWait},
      {"being-cancelled", past(cancelled(seen(kRunning))), Step::kWait},
      {"node-failed", past(seen(kNodeFail)), Step::kSubmitAgain},
      {"cancelled", cancelled(seen(kCancelled)), Step::kStop, StopKind::kInterrupted},
      {"cancelled", cancelled(with(gone(), RunnerEnd::kInterrupted)), Step::kStop, StopKind::kInterrupted},
      {"being-cancelled", cancelled(seen(kPending, "launch failed requeued held")), Step::kWait},
      {"being-cancelled", cancelled(seen(kPending, "PartitionConfig")), Step::kWait},
      {"runner-lives", alive(gone()), Step::kWait},
      {"runner-lives", done(alive(seen(kRunning))), Step::kWait},
      {"runner-lives", alive(seen(kPending, "launch failed requeued held")), Step::kWait},
      {"state-unknown", PartFacts{}, Step::kWait},
      {"state-unknown", with(PartFacts{}, RunnerEnd::kFailed), Step::kWait},
      {"launch-failed", seen(kPending, "launch failed requeued held"), Step::kCancelAndSubmitAgain},
      {"never-starts", seen(kPending, "PartitionConfig"), Step::kCancelAndStop},
      {"never-starts", seen(kPending, "DependencyNeverSatisfied"), Step::kCancelAndStop},
      {"never-starts", seen(kPending, "BadConstraints"), Step::kCancelAndStop},
      {"held", seen(kPending, "JobHeldUser"), Step::kWait},
      {"queued", seen(kPending, "Resources"), Step::kWait},
      {"queued", seen(kPending, "BeginTime"), Step::kWait},
      {"queued", with(seen(kPending, "BeginTime"), RunnerEnd::kRequeued), Step::kWait},
      {"queued", with(seen(kPending, "BeginTime"), RunnerEnd::kInterrupted), Step::kWait},
      {"active", seen(kRunning), Step::kWait},
      {"active", with(seen(kRunning), RunnerEnd::kFailed), Step::kWait},
      {"active", seen(kOther), Step::kWait},
      {"files-may-lag", just_now(seen(kCompleted)), Step::kWait},
      {"files-may-lag", just_now(with(seen(kCompleted), RunnerEnd::kComplete)), Step::kWait},
      {"files-may-lag", just_now(gone()), Step::kWait},
      {"runner-failed", just_now(with(seen(kFailed), RunnerEnd::kFailed)), Step::kStop},
      {"runner-failed", with(gone(), RunnerEnd::kFailed), Step::kStop},
      {"cancelled-elsewhere", seen(kCancelled), Step::kStop, StopKind::kInterrupted},
      {"cancelled-elsewhere", with(seen(kCancelled), RunnerEnd::kInterrupted), Step::kStop, StopKind::kInterrupted},
      {"stopped-and-gone", with(gone(), RunnerEnd::kInterrupted), Step::kStop, StopKind::kInterrupted},
      {"time-limit", progressed(seen(kTimeout)), Step::kSubmitAgain},
      {"time-limit", progressed(with(seen(kTimeout), RunnerEnd::kInterrupted)), Step::kSubmitAgain},
      {"time-limit-too-short", seen(kTimeout), Step::kStop},
      {"requeue-lost", progressed(with(seen(kCompleted), RunnerEnd::kRequeued)), Step::kSubmitAgain},
      {"stopped-short", progressed(with(seen(kFailed), RunnerEnd::kInterrupted)), Step::kSubmitAgain},
      {"preempted", progressed(with(seen(kPreempted), RunnerEnd::kInterrupted)), Step::kSubmitAgain},
      {"ended", with(seen(kFailed), RunnerEnd::kInterrupted), Step::kSubmitAgain},
      {"ended", with(seen(kFailed), RunnerEnd::kRequeued), Step::kSubmitAgain},
      {"trials-left", with(seen(kFailed), RunnerEnd::kTrialsLeft), Step::kSubmitAgain},
      {"never-launches", unlaunched(with(seen(kFailed), RunnerEnd::kTrialsLeft)), Step::kStop},
      {"never-launches", unlaunched(with(gone(), RunnerEnd::kTrialsLeft)), Step::kStop},
      {"node-failed", unlaunched(seen(kNodeFail)), Step::kSubmitAgain},
      {"never-begins", exited(seen(kFailed), 3, 3), Step::kStop},
      {"ended", exited(seen(kFailed), 3, std::nullopt), Step::kSubmitAgain},
      {"ended", exited(seen(kFailed), 3, 4), Step::kSubmitAgain},
      {"ended", exited(seen(kFailed), 75, 75), Step::kSubmitAgain},
      {"ended", begun(exited(seen(kFailed), 3, 3)), Step::kSubmitAgain},
      {"node-failed", exited(seen(kNodeFail), 1, 1), Step::kSubmitAgain},
      {"node-failed", seen(kNodeFail), Step::kSubmitAgain},
      {"node-failed", with(seen(kNodeFail), RunnerEnd::kInterrupted), Step::kSubmitAgain},
      {"preempted", seen(kPreempted), Step::kSubmitAgain},
      {"out-of-memory", seen(kOutOfMemory), Step::kSubmitAgain},
      {"job-lost", gone(), Step::kSubmitAgain},
      {"results-missing", with(seen(kCompleted), RunnerEnd::kComplete), Step::kSubmitAgain},
      {"ended", seen(kCompleted), Step::kSubmitAgain},
      {"ended", seen(kFailed), Step::kSubmitAgain},
      {"ended", alive(seen(kFailed)), Step::kSubmitAgain},
  };
}

bool agrees(const Case& wanted, const Decision& decision) {
  return decision.id == wanted.row && decision.step == wanted.step &&
         (wanted.step != Step::kStop && wanted.step != Step::kCancelAndStop ? true : decision.stop == wanted.stop);
}

TEST(Decide, TakesTheRowThatIsMeantForEachCase) {
  int number = 0;
  for (const Case& wanted : cases()) {
    const Decision decision = decide(wanted.facts);
    EXPECT_TRUE(agrees(wanted, decision)) << "case " << number << " wants " << wanted.row << ", found " << decision.id;
    EXPECT_FALSE(decision.reason.empty()) << wanted.row;
    ++number;
  }
}

TEST(Decide, NeedsEachOfItsRows) {
  for (std::size_t left_out = 0; left_out < decision_rows().size(); ++left_out) {
    std::vector<DecisionRow> rows(decision_rows().begin(), decision_rows().end());
    const std::string id = rows[left_out].id;
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(left_out));
    const auto all = cases();
    EXPECT_FALSE(std::all_of(all.begin(), all.end(), [&](const Case& wanted) { return agrees(wanted, decide(wanted.facts, rows)); }))
        << "without the row " << id << " every case is decided alike";
  }
}

TEST(Decide, GivesUpAPartThatInfrastructureEndedTooOften) {
  for (const Case& wanted : cases()) {
    PartFacts facts = wanted.facts;
    facts.num_retries = kMostRetries - 1;
    EXPECT_EQ(decide(facts).step, wanted.step) << wanted.row;
    facts.num_retries = kMostRetries;
    const Decision decision = decide(facts);
    if (decide(wanted.facts).is_counted) {
      EXPECT_EQ(decision.step, wanted.step == Step::kSubmitAgain ? Step::kStop : Step::kCancelAndStop) << wanted.row;
      EXPECT_EQ(decision.stop, StopKind::kEnvironment) << wanted.row;
    } else {
      EXPECT_EQ(decision.step, wanted.step) << wanted.row;
    }
  }
}

TEST(Decide, DoesNotCountATimeLimitThatLetBlocksBeDone) {
  EXPECT_FALSE(decide(progressed(seen(JobState::kTimeout))).is_counted);
  EXPECT_TRUE(decide(seen(JobState::kNodeFail)).is_counted);
}

TEST(Decide, SaysHowAJobThatFailedEndedAndWhereToReadMore) {
  PartFacts facts = exited(seen(JobState::kFailed, "NonZeroExitCode"), 3, std::nullopt);
  facts.study_id = "00000000000000cc";
  const std::string reason = decide(facts).reason;
  EXPECT_NE(reason.find("with exit code 3; `rematch logs 00000000000000cc --job` shows what it printed"), std::string::npos) << reason;
}

TEST(Decide, SaysWhatTheRunnerSaid) {
  PartFacts facts = with(seen(JobState::kFailed), RunnerEnd::kFailed);
  facts.runner_message = "the trainer is not there";
  EXPECT_NE(decide(facts).reason.find("the trainer is not there"), std::string::npos);
}

}  // namespace
}  // namespace rematch::slurm
