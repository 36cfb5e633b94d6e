#include "orchestrator/slurm/cluster_study.h"

#include "orchestrator/engine/workspace_lock.h"
#include "tests/orchestrator/slurm/cluster_fixture.h"

namespace rematch::slurm {
namespace {

using Sbatch = tests::FakeSlurm::Sbatch;

class SilentListener final : public engine::Listener {
 public:
  void trial_started(const engine::TrialPlace&) override {}
  void trial_progressed(const engine::TrialPlace&, const engine::TrialProgress&) override {}
  void trial_ended(const engine::TrialPlace&, const base::AttemptRows&) override {}
  void remarked(const std::string&) override {}
};

class ClusterStudyTest : public tests::ClusterFixture {
 protected:
  base::Result<ClusterResult> carry_out(FollowUntil until = FollowUntil::kAllEnded) {
    ClusterOptions options;
    options.workspace = workspace_.path();
    options.trainer = "/opt/trainer";
    options.rematch = "/opt/rematch";
    options.until = until;
    SilentListener listener;
    return carry_out_on_cluster(plan_, options, surroundings_, listener, watcher_);
  }

  // The runner of the open submission does all trials at once.
  void complete() {
    finish_all();
    write_runner("study", 1, store_.open().at(0).name, protocol::RunnerEnd::kComplete);
  }
};

TEST_F(ClusterStudyTest, SubmitsFollowsAndCollectsAndHoldsNoLockWhileJobsRun) {
  bool was_free = false;
  slurm_.on_pause = [&] {
    was_free = !engine::WorkspaceLock::holder(workspace_.path());
    complete();
  };
  const auto result = carry_out();
  ASSERT_TRUE(result);
  EXPECT_EQ(result.value().end, ClusterEnd::kEnded);
  EXPECT_EQ(result.value().result.num_undone, 0);
  EXPECT_EQ(result.value().result.study.attempts.size(), plan_.trials.size()) << "collected into the workspace's database";
  EXPECT_TRUE(was_free);
  EXPECT_EQ(slurm_.num_calls["sbatch"], 1);
}

TEST_F(ClusterStudyTest, NeedsNoSlurmForAStudyThatIsComplete) {
  finish_all();
  const auto result = carry_out();
  ASSERT_TRUE(result);
  EXPECT_EQ(result.value().end, ClusterEnd::kEnded);
  EXPECT_EQ(slurm_.num_client_calls(), 0);
}

TEST_F(ClusterStudyTest, ComesBackWithItsJobsAndCollectsWhenItIsAskedAgain) {
  const auto detached = carry_out(FollowUntil::kOneLook);
  ASSERT_TRUE(detached);
  EXPECT_EQ(detached.value().end, ClusterEnd::kJobsGoOn);
  ASSERT_EQ(detached.value().open.size(), 1U);
  EXPECT_EQ(detached.value().open[0].job_id, 17);
  EXPECT_EQ(carry_out(FollowUntil::kOneLook).value().end, ClusterEnd::kJobsGoOn) << "it waits";
  complete();
  EXPECT_EQ(carry_out(FollowUntil::kOneLook).value().end, ClusterEnd::kEnded);
  EXPECT_EQ(slurm_.num_calls["sbatch"], 1);
}

TEST_F(ClusterStudyTest, FindsWhatADeathLeftBetweenSbatchAndItsRecord) {
  submit_all();
  store_.update(last_.submission.name, [](protocol::Submission& submission) {
    submission.job_id.reset();
    submission.submit_unix_ns.reset();
  });
  const auto result = carry_out(FollowUntil::kOneLook);
  ASSERT_TRUE(result);
  EXPECT_EQ(result.value().open.at(0).job_id, 17);
  EXPECT_EQ(slurm_.num_calls["sbatch"], 1);
}

TEST_F(ClusterStudyTest, SaysWhatSlurmRefusedAndLeavesNothingOpen) {
  slurm_.sbatch_next = {Sbatch::kRefuses};
  const auto result = carry_out();
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("invalid partition specified: nope"), std::string::npos);
  EXPECT_TRUE(store_.open().empty());
}

TEST_F(ClusterStudyTest, EndsWithWhatIsLeftWhenAPartIsGivenUp) {
  slurm_.on_pause = [&] { slurm_.set(store_.open().at(0).name, "PENDING", "PartitionConfig"); };
  const auto result = carry_out();
  ASSERT_TRUE(result);
  EXPECT_EQ(result.value().stops.size(), 1U);
  EXPECT_EQ(result.value().result.end, engine::EngineEnd::kTrialsLeft);
  EXPECT_EQ(result.value().result.num_undone, static_cast<std::int64_t>(plan_.trials.size()));
}

TEST_F(ClusterStudyTest, IsRefusedWhileAControllerHoldsTheWorkspace) {
  const auto lock = engine::WorkspaceLock::take(workspace_.path(), "another");
  ASSERT_TRUE(lock);
  const auto result = carry_out();
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("in use"), std::string::npos);
  EXPECT_EQ(slurm_.num_client_calls(), 0);
}

}  // namespace
}  // namespace rematch::slurm
