#include "orchestrator/slurm/overseer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "schemas/protocol/record_file.h"
#include "tests/orchestrator/slurm/fake_client.h"
#include "tests/support/temp_dir.h"

namespace rematch::slurm {
namespace {

using engine::StopCause;

struct QuietListener final : engine::Listener {
  void trial_started(const engine::TrialPlace&) override {}
  void trial_progressed(const engine::TrialPlace&, const engine::TrialProgress&) override {}
  void trial_ended(const engine::TrialPlace&, const base::AttemptRows&) override {}
  void remarked(const std::string& message) override { remarks.push_back(message); }
  std::vector<std::string> remarks;
};

class OverseerTest : public ::testing::Test {
 protected:
  OverseerTest() {
    std::filesystem::create_directories(submission_.parent_path());
    put({});
  }
  engine::Claim claim(std::size_t num_nodes) {
    protocol::RunnerRecord record;
    record.scope = "study";
    record.runner_id = "00000000000000" + std::to_string(10 + num_claims_++);
    record.allocation = protocol::Allocation{.job_id = 17};
    for (std::size_t i = 0; i < num_nodes; ++i) record.nodes.push_back("n" + std::to_string(i + 1));
    engine::ClaimOptions options;
    options.overlaps = [](const std::string& scope) { return scope == "study"; };
    return {folder_.path(), record, options};
  }
  void put(protocol::Submission submission) const {
    submission.name = "s";
    submission.study_id = "00000000000000aa";
    protocol::write_file_by_rename(submission_, protocol::to_json(submission).dump());
  }
  static base::AttemptRows failed(protocol::FailureKind kind) {
    base::AttemptRows attempt;
    attempt.failure.emplace().kind = kind;
    return attempt;
  }

  tests::TempDir folder_;
  std::filesystem::path submission_ = protocol::StudyPaths{folder_.path()}.submission("s");
  tests::FakeClient client_;
  QuietListener listener_;
  int num_claims_ = 0;
};

TEST_F(OverseerTest, StopsWhenALaterRunnerHasClaimedThePart) {
  engine::Claim first = claim(1);
  AllocationOverseer overseer(first, submission_, client_, listener_);
  EXPECT_FALSE(overseer.beat());
  EXPECT_EQ(first.record().heartbeat, 1);
  const engine::Claim second = claim(1);
  EXPECT_EQ(overseer.beat(), StopCause::kSuperseded);
}

TEST_F(OverseerTest, StopsBetweenTrialsWhenTheSubmissionIsCancelledOrClosed) {
  engine::Claim own = claim(1);
  AllocationOverseer overseer(own, submission_, client_, listener_);
  EXPECT_FALSE(overseer.before_trial());
  put({.cancel_unix_ns = 5});
  EXPECT_EQ(overseer.before_trial(), StopCause::kCancelled);
  put({.close_unix_ns = 5});
  EXPECT_EQ(overseer.before_trial(), StopCause::kCancelled);
  protocol::write_file_by_rename(submission_, "{");
  EXPECT_FALSE(overseer.before_trial()) << "what cannot be read at this moment says nothing";
  EXPECT_EQ(listener_.remarks.size(), 1U);
}

TEST_F(OverseerTest, AsksForTheNodesOnlyAfterAnEndThatALostNodeMayExplain) {
  engine::Claim own = claim(2);
  AllocationOverseer overseer(own, submission_, client_, listener_);
  client_.calls.clear();
  EXPECT_FALSE(overseer.after_inconclusive(failed(protocol::FailureKind::kInterrupted)));
  EXPECT_TRUE(client_.calls.empty());
  EXPECT_FALSE(overseer.after_inconclusive(failed(protocol::FailureKind::kNodeFail))) << "no answer";
  client_.answers["squeue -h -j 17 -o %D"] = {0, "2\n", ""};
  EXPECT_FALSE(overseer.after_inconclusive(failed(protocol::FailureKind::kNodeFail)));
  client_.answers["squeue -h -j 17 -o %D"] = {0, "1\n", ""};
  EXPECT_EQ(overseer.after_inconclusive(failed(protocol::FailureKind::kLaunch)), StopCause::kNodeLost);
  EXPECT_EQ(client_.calls.size(), 3U);
}

TEST_F(OverseerTest, CountsTheTimeLeftDownFromOneAnswer) {
  engine::Claim own = claim(1);
  client_.answers["squeue -h -j 17 -o %L"] = {0, "1:00:00\n", ""};
  AllocationOverseer overseer(own, submission_, client_, listener_);
  const auto left = overseer.time_left();
  ASSERT_TRUE(left);
  EXPECT_LE(*left, std::chrono::seconds(3600));
  EXPECT_GE(*left, std::chrono::seconds(3590));
  EXPECT_EQ(client_.calls.size(), 1U);
}

}  // namespace
}  // namespace rematch::slurm
