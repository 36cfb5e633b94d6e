#include "orchestrator/slurm/follow.h"

#include <set>

#include "orchestrator/launch/process.h"
#include "orchestrator/slurm/launch_problem.h"
#include "tests/orchestrator/slurm/follow_fixture.h"

namespace rematch::slurm {
namespace {

using tests::FollowTest;

using protocol::RunnerEnd;

TEST_F(FollowTest, ComesToItsEndByFilesAloneAndClosesTheSubmission) {
  submit_all();
  play({{3, [&] { slurm_.set(name(), "RUNNING", "", "n1"), write_runner("study", 1, name(), std::nullopt); }},
        {20, [&] { finish_all(), write_runner("study", 1, name(), RunnerEnd::kComplete, 4); }}});
  EXPECT_TRUE(follow());
  EXPECT_EQ(seconds_taken(), 20) << "no call of a client is waited for";
  EXPECT_TRUE(follower_.stops().empty());
  EXPECT_TRUE(store_.open().empty());
  EXPECT_EQ(slurm_.num_calls["sbatch"], 1);
  EXPECT_TRUE(slurm_.cancelled.empty());
}

TEST_F(FollowTest, WaitsForARunnerWhoseStudyMayGrowThoughAllTrialsAreDone) {
  plan_.blocks_auto = true;
  folder_.write_plan(plan_);
  DoneTrials growing(plan_, folder_);
  Follower follower(surroundings_, cluster_, submitter_, store_, growing, watcher_, workspace_.path());
  submit_all();
  slurm_.set(name(), "RUNNING");
  write_runner("study", 1, name(), std::nullopt);
  finish_all();
  play({{30, [&] { write_runner("study", 1, name(), std::nullopt, 5); }},
        {40, [&] { write_runner("study", 1, name(), RunnerEnd::kComplete, 6); }}});
  EXPECT_TRUE(follower.follow(FollowUntil::kAllEnded));
  EXPECT_EQ(seconds_taken(), 40);
}

TEST_F(FollowTest, StopsFollowingAndLeavesTheJobsAlone) {
  submit_all();
  play({{5, [&] { slurm_.is_told_to_stop = true; }}});
  EXPECT_FALSE(follow());
  EXPECT_EQ(store_.open().size(), 1U);
  EXPECT_TRUE(slurm_.cancelled.empty());
}

TEST_F(FollowTest, OneLookComesBackAtOnceAndClosesWhatHasEnded) {
  submit_all();
  play({});
  EXPECT_FALSE(follow(FollowUntil::kOneLook));
  finish_all();
  write_runner("study", 1, name(), RunnerEnd::kComplete);
  EXPECT_TRUE(follow(FollowUntil::kOneLook));
  EXPECT_EQ(seconds_taken(), 0);
}

TEST_F(FollowTest, SubmitsAgainWhatANodeFailureTookAndSaysSo) {
  const std::string first = submit_all().name;
  play({{2, [&] { slurm_.set(first, "RUNNING", "", "n2"), write_runner("study", 1, first, std::nullopt); }},
        {30, [&] { slurm_.set(first, "NODE_FAIL", "NodeDown", "n2"); }},
        {100, [&] { finish_all(), write_runner("study", 2, store_.open().at(0).name, RunnerEnd::kComplete); }}});
  EXPECT_TRUE(follow());
  EXPECT_EQ(slurm_.num_calls["sbatch"], 2);
  ASSERT_EQ(watcher_.submissions.size(), 1U);
  EXPECT_NE(watcher_.submissions[0].name, first);
  EXPECT_TRUE(watcher_.has_said("a node of its job failed"));
  EXPECT_EQ(store_.all().at(0).message, "a node of its job failed");
}

TEST_F(FollowTest, CountsATrialNoLongerThatAnotherRunnerRepeats) {
  submit_all();
  finish_block(0);
  slurm_.set(name(), "RUNNING");
  play({{5,
         [&] {
           EXPECT_EQ(watcher_.last.num_done, 2);
           for (const auto& attempt : folder_.attempts(plan_.trials.front().trial_id)) {
             const protocol::AttemptPaths paths{attempt.folder};
             std::filesystem::rename(paths.done(), paths.superseded());
           }
           write_runner("study", 2, name(), std::nullopt);
         }},
        {8, [&] { EXPECT_EQ(watcher_.last.num_done, 1), slurm_.is_told_to_stop = true; }}});
  EXPECT_FALSE(follow());
}

TEST_F(FollowTest, GivesUpAPartThatEndsWithoutAWordTimeAndAgain) {
  submit_all();
  play({});
  const auto go_on = slurm_.on_pause;
  slurm_.on_pause = [&] {
    for (auto& job : slurm_.jobs) job.state = "FAILED", job.reason = "NonZeroExitCode";
    go_on();
  };
  EXPECT_TRUE(follow());
  EXPECT_EQ(slurm_.num_calls["sbatch"], 1 + kMostRetries);
  ASSERT_EQ(follower_.stops().size(), 1U);
  EXPECT_EQ(follower_.stops()[0].kind, StopKind::kEnvironment);
  EXPECT_TRUE(store_.open().empty());
}

TEST_F(FollowTest, GivesUpAPartWhoseJobsEndAlikeBeforeARunnerBegins) {
  submit_all();
  play({});
  const auto go_on = slurm_.on_pause;
  slurm_.on_pause = [&] {
    for (auto& job : slurm_.jobs) job.state = "FAILED", job.reason = "NonZeroExitCode", job.status = 3 << 8;
    go_on();
  };
  EXPECT_TRUE(follow());
  EXPECT_EQ(slurm_.num_calls["sbatch"], 2);
  ASSERT_EQ(follower_.stops().size(), 1U);
  EXPECT_NE(follower_.stops()[0].reason.find("exit code 3"), std::string::npos) << follower_.stops()[0].reason;
}

TEST_F(FollowTest, GivesUpAPartOfWhichNoTrialCanBeLaunched) {
  submit_all();
  play({{5, [&] {
           for (const auto& trial : plan_.trials)
             fail_to_launch(trial, "srun: step 17." + std::to_string(trial.slot) + ": unrecognized option '--nonsense'");
           write_runner("study", 1, name(), RunnerEnd::kTrialsLeft);
           slurm_.set(name(), "FAILED", "NonZeroExitCode");
         }}});
  EXPECT_TRUE(follow());
  EXPECT_EQ(slurm_.num_calls["sbatch"], 1);
  ASSERT_EQ(follower_.stops().size(), 1U);
  EXPECT_EQ(follower_.stops()[0].kind, StopKind::kEnvironment);
  EXPECT_NE(follower_.stops()[0].reason.find("unrecognized option '--nonsense'"), std::string::npos) << follower_.stops()[0].reason;
}

TEST_F(FollowTest, SubmitsAgainWhereTrialsFailedToLaunchInSeveralWaysOrOneWasDone) {
  for (const char* second : {"another", ""}) {
    fail_to_launch(plan_.trials[0], "one");
    if (*second != '\0') fail_to_launch(plan_.trials[1], second);
    if (*second == '\0') finish(plan_.trials[1]);
    EXPECT_EQ(common_launch_problem(plan_, folder_, {0, std::nullopt}, 1), "") << second;
  }
}

TEST_F(FollowTest, TakesALaunchThatFailedOnceForNoRule) {
  fail_to_launch(plan_.trials[0], "one");
  const protocol::SubmissionTask part{std::nullopt, plan_.trials[0].trial_id};
  EXPECT_EQ(common_launch_problem(plan_, folder_, part, 1), "");
  fail_to_launch(plan_.trials[0], "one");
  EXPECT_EQ(common_launch_problem(plan_, folder_, part, 1), "one");
}

TEST_F(FollowTest, ReportsAJobThatSomebodyElseCancelledAndSubmitsNothing) {
  submit_all();
  play({{2, [&] { slurm_.set(name(), "RUNNING"), write_runner("study", 1, name(), std::nullopt); }},
        {9, [&] { slurm_.set(name(), "CANCELLED"), write_runner("study", 1, name(), RunnerEnd::kInterrupted, 3); }}});
  EXPECT_TRUE(follow());
  EXPECT_LE(seconds_taken(), 12) << "its runner's end makes Slurm be asked at once";
  ASSERT_EQ(follower_.stops().size(), 1U);
  EXPECT_EQ(follower_.stops()[0].kind, StopKind::kInterrupted);
  EXPECT_EQ(slurm_.num_calls["sbatch"], 1);
}

TEST_F(FollowTest, CancelsAJobThatANodeRefusedToLaunchAndSubmitsAnew) {
  const std::string first = submit_all().name;
  slurm_.set(first, "PENDING", "launch failed requeued held");
  play({{60, [&] { finish_all(), write_runner("study", 1, store_.open().at(0).name, RunnerEnd::kComplete); }}});
  EXPECT_TRUE(follow());
  EXPECT_EQ(slurm_.cancelled, std::set<std::string>{"17"});
  EXPECT_EQ(slurm_.num_calls["sbatch"], 2);
}

TEST_F(FollowTest, CancelsAndReportsAJobThatWouldNeverStart) {
  submit_all();
  slurm_.set(name(), "PENDING", "PartitionConfig");
  play({});
  EXPECT_TRUE(follow());
  EXPECT_EQ(slurm_.cancelled.size(), 1U);
  ASSERT_EQ(follower_.stops().size(), 1U);
  EXPECT_NE(follower_.stops()[0].reason.find("PartitionConfig"), std::string::npos);
}

TEST_F(FollowTest, SaysOnceThatAJobIsHeldAndWaits) {
  submit_all();
  slurm_.set(name(), "PENDING", "JobHeldUser");
  play({{200, [&] { finish_all(), write_runner("study", 1, name(), RunnerEnd::kComplete); }}});
  EXPECT_TRUE(follow());
  EXPECT_EQ(watcher_.remarks.size(), 1U);
  EXPECT_TRUE(watcher_.has_said("scontrol release"));
}

TEST_F(FollowTest, KeepsWhatSlurmSaidLastWhileItDoesNotAnswer) {
  submit_all();
  slurm_.set(name(), "RUNNING", "", "n1");
  play({{3, [&] { slurm_.answers = false; }},
        {300, [&] { slurm_.answers = true; }},
        {500, [&] { finish_all(), write_runner("study", 1, name(), RunnerEnd::kComplete); }}});
  EXPECT_TRUE(follow());
  EXPECT_EQ(slurm_.num_calls["sbatch"], 1);
  EXPECT_EQ(watcher_.remarks.size(), 2U) << "once that it is silent, once that it is back";
  EXPECT_LE(slurm_.most_calls_a_minute(), 4U);
}

TEST_F(FollowTest, WaitsForTheRunnerOfAJobThatTheControllerLostAndSubmitsWhenItStandsStill) {
  submit_all();
  write_runner("study", 1, name(), std::nullopt);
  slurm_.jobs.clear();
  play({{40, [&] { write_runner("study", 1, name(), std::nullopt, 2); }},
        {80, [&] { write_runner("study", 1, name(), std::nullopt, 3); }},
        {100, [&] { EXPECT_EQ(slurm_.num_calls["sbatch"], 1) << "it lives"; }},
        {200, [&] { finish_all(), write_runner("study", 2, store_.open().at(0).name, RunnerEnd::kComplete); }}});
  EXPECT_TRUE(follow());
  EXPECT_EQ(slurm_.num_calls["sbatch"], 2);
}

TEST_F(FollowTest, GoesOnWithWhatWasCancelledBeforeItBeganToLook) {
  const std::string first = submit_all().name;
  slurm_.set(first, "CANCELLED");
  Submitter later(cluster_, store_, setup_, surroundings_);
  Follower follower(surroundings_, cluster_, later, store_, trials_, watcher_, workspace_.path());
  play({{30, [&] { finish_all(), write_runner("study", 1, store_.open().at(0).name, RunnerEnd::kComplete); }}});
  EXPECT_TRUE(follower.follow(FollowUntil::kAllEnded));
  EXPECT_TRUE(follower.stops().empty());
  EXPECT_EQ(slurm_.num_calls["sbatch"], 2);
}

TEST_F(FollowTest, WaitsForTheTrialThatACancelLeftAndGoesOnWhenItWasAskedToAfterwards) {
  const std::string first = submit_all().name;
  slurm_.set(first, "RUNNING");
  store_.update(first, [](protocol::Submission& submission) { submission.cancel_unix_ns = 1; });
  play({{20, [&] { slurm_.set(first, "COMPLETED"), write_runner("study", 1, first, RunnerEnd::kInterrupted); }},
        {60, [&] { finish_all(), write_runner("study", 2, store_.open().at(0).name, RunnerEnd::kComplete); }}});
  Submitter later(cluster_, store_, setup_, surroundings_);
  Follower follower(surroundings_, cluster_, later, store_, trials_, watcher_, workspace_.path());
  EXPECT_TRUE(follower.follow(FollowUntil::kAllEnded));
  EXPECT_TRUE(follower.stops().empty());
  EXPECT_EQ(slurm_.num_calls["sbatch"], 2);
}

TEST_F(FollowTest, AsksAccountingForTheEndOfAJobThatTheControllerForgot) {
  submit_all();
  slurm_.jobs.clear();
  slurm_.has_accounting = true;
  slurm_.accounted = {{17, name(), std::nullopt, "REQUEUED"}, {17, name(), std::nullopt, "CANCELLED by 0"}};
  play({});
  EXPECT_TRUE(follow());
  ASSERT_EQ(follower_.stops().size(), 1U) << "it was submitted by this process";
  EXPECT_EQ(follower_.stops()[0].kind, StopKind::kInterrupted);
  EXPECT_EQ(slurm_.num_calls["sbatch"], 1);
}

TEST_F(FollowTest, FindsOutOnceThatThereIsNoAccounting) {
  submit_all();
  slurm_.jobs.clear();
  play({{100, [&] { slurm_.jobs.clear(); }}, {200, [&] { slurm_.is_told_to_stop = true; }}});
  follow();
  EXPECT_GE(slurm_.num_calls["sbatch"], 2);
  EXPECT_EQ(slurm_.num_calls["sacct"], 1);
}

TEST_F(FollowTest, DoesNotTakeAJobOfAnotherNameForItsOwnThoughTheIdIsTheSame) {
  submit_all();
  slurm_.jobs = {{17, "somebody-elses", std::nullopt, "COMPLETED"}};
  play({{8, [&] { EXPECT_EQ(watcher_.last.num_jobs.count("COMPLETED"), 0U), slurm_.is_told_to_stop = true; }}});
  follow();
  EXPECT_TRUE(slurm_.cancelled.empty());
}

TEST_F(FollowTest, DoesNotSubmitAgainWhatWasCancelledElsewhereByRematch) {
  submit_all();
  play({{5, [&] {
           store_.update(name(), [](protocol::Submission& submission) { submission.cancel_unix_ns = 1, submission.close_unix_ns = 2; });
         }}});
  EXPECT_TRUE(follow());
  ASSERT_EQ(follower_.stops().size(), 1U);
  EXPECT_EQ(follower_.stops()[0].kind, StopKind::kInterrupted);
  EXPECT_EQ(slurm_.num_calls["sbatch"], 1);
}

TEST_F(FollowTest, LeavesToAnotherLoginWhatThatHasSubmittedAlready) {
  const std::string first = submit_all().name;
  slurm_.set(first, "FAILED", "NonZeroExitCode");
  protocol::Submission others = store_.all().at(0);
  others.name = "first-00000000000000cc-ffffffff";
  play({{5,
         [&] {
           store_.put(others);
           slurm_.jobs.push_back({40, others.name, std::nullopt, "RUNNING"});
         }},
        {90, [&] { finish_all(), write_runner("study", 1, others.name, RunnerEnd::kComplete); }}});
  EXPECT_TRUE(follow());
  EXPECT_EQ(slurm_.num_calls["sbatch"], 1);
}

TEST_F(FollowTest, SubmitsATimedOutStudyAgainWhenABlockWasDoneAndElseSaysThatItsTimeIsTooShort) {
  submit_all();
  slurm_.set(name(), "TIMEOUT", "TimeLimit");
  play({{1, [&] { finish_block(0); }}});
  const auto go_on = slurm_.on_pause;
  slurm_.on_pause = [&] {
    for (auto& job : slurm_.jobs) job.state = "TIMEOUT";
    go_on();
    if (slurm_.num_calls["sbatch"] == 3) slurm_.is_told_to_stop = true;
  };
  follow();
  EXPECT_EQ(slurm_.num_calls["sbatch"], 3) << "not counted as infrastructure";
}

TEST_F(FollowTest, DoesNotGiveUpAPartThatComesAStepFurtherEachTime) {
  submit_all();
  play({});
  const auto go_on = slurm_.on_pause;
  slurm_.on_pause = [&] {
    for (auto& job : slurm_.jobs) job.state = "PREEMPTED";
    end_unix_ns_ = launch::unix_now_ns();
    if (slurm_.num_calls["sbatch"] == kMostRetries && folder_.num_done(plan_) == 0) finish_block(0);
    go_on();
  };
  EXPECT_TRUE(follow());
  EXPECT_EQ(slurm_.num_calls["sbatch"], 2 * kMostRetries) << "counted anew after the block";
  EXPECT_EQ(follower_.stops().size(), 1U);
}

TEST_F(FollowTest, SaysThatATimeLimitIsTooShortForOneBlock) {
  submit_all();
  slurm_.set(name(), "TIMEOUT", "TimeLimit");
  finish(plan_.trials.front());
  play({});
  EXPECT_TRUE(follow());
  ASSERT_EQ(follower_.stops().size(), 1U);
  EXPECT_NE(follower_.stops()[0].reason.find("--time"), std::string::npos);
}

TEST(SightText, NamesOneJobByItsNumberAndCountsSeveral) {
  StudySight sight;
  sight.num_done = 3;
  sight.num_planned = 14;
  sight.num_jobs = {{"RUNNING", 1}};
  sight.job = "17 on n[1-2]";
  sight.in_flight = TrialInFlight{"moe_act", 1, 2};
  EXPECT_EQ(sight_text(sight), "job 17 on n[1-2]: RUNNING; 3 of 14 trials done; moe_act, block 1, slot 2");
  sight = {};
  sight.num_planned = 1000;
  sight.num_jobs = {{"PENDING (Priority)", 497}, {"RUNNING", 3}};
  EXPECT_EQ(sight_text(sight), "jobs: 497 PENDING (Priority), 3 RUNNING; 0 of 1000 trials done");
}

}  // namespace
}  // namespace rematch::slurm
