// Studies of many jobs: arrays of blocks, a job a trial.
#include <set>

#include "tests/orchestrator/slurm/follow_fixture.h"

namespace rematch::slurm {
namespace {

using protocol::RunnerEnd;
using tests::FollowTest;

class FollowLargeArrayTest : public FollowTest {
 protected:
  FollowLargeArrayTest() : FollowTest("array", 500) {}
};

class FollowArrayTest : public FollowTest {
 protected:
  FollowArrayTest() : FollowTest("array", 4) {}

  void set_element(std::int64_t element, const std::string& state, const std::string& reason = "") {
    slurm_.jobs.at(static_cast<std::size_t>(element)).state = state;
    slurm_.jobs.at(static_cast<std::size_t>(element)).reason = reason;
  }
};

TEST_F(FollowLargeArrayTest, SubmitsFiveHundredElementsInOneCallAndFollowsThemInFourCallsAMinuteAtMost) {
  submit_all();
  EXPECT_EQ(slurm_.num_calls["sbatch"], 1);
  EXPECT_EQ(slurm_.jobs.size(), 500U);
  slurm_.num_calls.clear();
  slurm_.call_times.clear();
  play({{600, [&] { slurm_.is_told_to_stop = true; }}});
  EXPECT_FALSE(follow());
  EXPECT_LE(slurm_.most_calls_a_minute(), 4U);
  EXPECT_EQ(slurm_.num_client_calls(), slurm_.num_calls["squeue"]) << "one call a cycle for all of them, and no other";
  EXPECT_LE(slurm_.num_calls["squeue"], 13);
  EXPECT_EQ(watcher_.last.num_jobs, (std::map<std::string, std::int64_t>{{"PENDING (Priority)", 500}}));
}

TEST_F(FollowArrayTest, SubmitsTheElementsThatFailedAgainAsOneArrayWhileTheOthersGoOn) {
  submit_all();
  finish_block(0);
  set_element(1, "NODE_FAIL", "NodeDown");
  set_element(2, "RUNNING");
  set_element(3, "NODE_FAIL", "NodeDown");
  play({{40, [&] {
           const auto open = store_.open();
           ASSERT_EQ(open.size(), 2U);
           ASSERT_EQ(open[1].tasks.size(), 2U);
           EXPECT_EQ(open[1].tasks[0].block, 1);
           EXPECT_EQ(open[1].tasks[1].block, 3);
           for (std::int64_t block = 1; block < 4; ++block) {
             finish_block(block);
             write_runner("block-" + std::to_string(block), 1, open[block == 2 ? 0 : 1].name, RunnerEnd::kComplete);
           }
         }}});
  EXPECT_TRUE(follow());
  EXPECT_EQ(slurm_.num_calls["sbatch"], 2);
  EXPECT_TRUE(follower_.stops().empty());
}

TEST_F(FollowArrayTest, SubmitsThemOnceThoughAnotherFollowerComesAfterADeath) {
  submit_all();
  set_element(1, "NODE_FAIL", "NodeDown");
  play({{30, [&] { slurm_.is_told_to_stop = true; }}});
  EXPECT_FALSE(follow());
  EXPECT_EQ(slurm_.num_calls["sbatch"], 2);
  slurm_.is_told_to_stop = false;
  Follower another(surroundings_, cluster_, submitter_, store_, trials_, watcher_, workspace_.path());
  play({{100, [&] { slurm_.is_told_to_stop = true; }}});
  EXPECT_FALSE(another.follow(FollowUntil::kAllEnded));
  EXPECT_EQ(slurm_.num_calls["sbatch"], 2);
}

TEST_F(FollowArrayTest, CancelsTheOneElementThatANodeRefused) {
  submit_all();
  set_element(3, "PENDING", "launch failed requeued held");
  play({{40, [&] { slurm_.is_told_to_stop = true; }}});
  follow();
  EXPECT_EQ(slurm_.cancelled, std::set<std::string>{"17_3"});
}

class FollowTrialsTest : public FollowTest {
 protected:
  FollowTrialsTest() : FollowTest("trials", 2) {}
};

TEST_F(FollowTrialsTest, HasAJobATrialAndAsksForAllOfThemAtOnce) {
  submit_all();
  EXPECT_EQ(slurm_.num_calls["sbatch"], 4);
  std::set<std::string> names;
  for (const auto& submission : store_.open()) names.insert(submission.name);
  EXPECT_EQ(names.size(), 4U);
  play({{5, [&] {
           for (const auto& submission : store_.open())
             write_runner("trial-" + *submission.tasks.at(0).trial_id, 1, submission.name, RunnerEnd::kComplete);
           finish_all();
         }}});
  EXPECT_TRUE(follow());
  EXPECT_LE(slurm_.num_calls["squeue"], 2);
}

}  // namespace
}  // namespace rematch::slurm
