#include "orchestrator/slurm/cancel.h"

#include "tests/orchestrator/slurm/cluster_fixture.h"

namespace rematch::slurm {
namespace {

class CancelTest : public tests::ClusterFixture {};

TEST_F(CancelTest, MarksEverySubmissionFirstAndThenEndsTheJobsByName) {
  const std::string name = submit_all().name;
  slurm_.set(name, "RUNNING");
  const CancelResult result = cancel_jobs(store_, cluster_, CancelWhen::kNow, surroundings_);
  EXPECT_EQ(result.num_submissions, 1);
  EXPECT_TRUE(result.all_ended);
  EXPECT_TRUE(result.warnings.empty());
  EXPECT_EQ(slurm_.cancelled, std::set<std::string>{name});
  EXPECT_TRUE(store_.open().empty());
  EXPECT_TRUE(store_.all().at(0).cancel_unix_ns);
}

TEST_F(CancelTest, KeepsTheMarkWhenSlurmDoesNotAnswer) {
  submit_all();
  slurm_.answers = false;
  const CancelResult result = cancel_jobs(store_, cluster_, CancelWhen::kNow, surroundings_);
  EXPECT_FALSE(result.all_ended);
  EXPECT_FALSE(result.warnings.empty());
  ASSERT_EQ(store_.open().size(), 1U);
  EXPECT_TRUE(store_.open()[0].cancel_unix_ns);
}

TEST_F(CancelTest, WaitsForJobsThatTakeTimeToEnd) {
  const std::string name = submit_all().name;
  slurm_.scancel_leaves = "COMPLETING";
  const auto begin = slurm_.now;
  slurm_.on_pause = [&] {
    if (slurm_.now - begin > std::chrono::seconds(20)) slurm_.set(name, "CANCELLED");
  };
  EXPECT_TRUE(cancel_jobs(store_, cluster_, CancelWhen::kNow, surroundings_).all_ended);
  EXPECT_GT(slurm_.now - begin, std::chrono::seconds(20));
}

TEST_F(CancelTest, DoesNotWaitForEverAndLeavesOpenWhatStillRuns) {
  submit_all();
  slurm_.scancel_leaves = "COMPLETING";
  const auto begin = slurm_.now;
  const CancelResult result = cancel_jobs(store_, cluster_, CancelWhen::kNow, surroundings_);
  EXPECT_FALSE(result.all_ended);
  EXPECT_EQ(store_.open().size(), 1U);
  EXPECT_LT(slurm_.now - begin, 2 * kCancelDeadline);
}

TEST_F(CancelTest, AfterTheTrialEndsOnlyJobsThatWaitAndWaitsForNone) {
  const std::string name = submit_all().name;
  slurm_.set(name, "RUNNING");
  const auto begin = slurm_.now;
  EXPECT_FALSE(cancel_jobs(store_, cluster_, CancelWhen::kAfterTrial, surroundings_).all_ended);
  EXPECT_EQ(slurm_.now, begin);
  EXPECT_EQ(slurm_.jobs.at(0).state, "RUNNING");
  EXPECT_TRUE(store_.open().at(0).cancel_unix_ns);
  slurm_.set(name, "PENDING", "Priority");
  cancel_jobs(store_, cluster_, CancelWhen::kAfterTrial, surroundings_);
  EXPECT_EQ(slurm_.jobs.at(0).state, "CANCELLED");
}

TEST_F(CancelTest, HasNothingToDoWithoutOpenSubmissions) {
  EXPECT_EQ(cancel_jobs(store_, cluster_, CancelWhen::kNow, surroundings_).num_submissions, 0);
  EXPECT_EQ(slurm_.num_client_calls(), 0);
}

}  // namespace
}  // namespace rematch::slurm
