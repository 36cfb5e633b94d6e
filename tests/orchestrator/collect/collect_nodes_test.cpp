// Attempts on several nodes, and those that were set aside.
#include <signal.h>

#include "tests/orchestrator/collect/collect_fixture.h"

namespace rematch::collect {
namespace {

TEST_F(Collect, ReadsAnAttemptThatWasSetAsideAsPreemptedHoweverItEnded) {
  ASSERT_FALSE(collected(clean()).failure);
  std::ofstream(protocol::AttemptPaths{folder_}.superseded()) << "{}";
  const AttemptRows well = collect_again();
  ASSERT_TRUE(well.failure);
  EXPECT_EQ(well.failure->kind, FailureKind::kPreempted);
  EXPECT_NE(well.failure->message.find("it ended well"), std::string::npos) << well.failure->message;

  AttemptRows crashed = clean();
  crashed.trial.trial_id = "00000000000000cd";
  crashed.launch.end = LaunchEnd::kRankFailed;
  end_by(crashed.ranks[1], std::nullopt, SIGTERM, 500);
  ASSERT_EQ(collected(crashed).failure->kind, FailureKind::kCrashed);
  std::ofstream(protocol::AttemptPaths{folder_}.superseded()) << "{}";
  const AttemptRows set_aside = collect_again();
  EXPECT_EQ(set_aside.failure->kind, FailureKind::kPreempted);
  EXPECT_EQ(set_aside.failure->rank, 1);
  EXPECT_NE(set_aside.failure->message.find("it ended as crashed: ended by SIGTERM"), std::string::npos) << set_aside.failure->message;
}

TEST_F(Collect, TakesTheNodeThatFailedFirstForTheCauseHoweverItsClockStands) {
  AttemptRows attempt = clean();
  attempt.launch.end = LaunchEnd::kRankFailed;
  attempt.launch.cause_rank = 1;
  attempt.launch.nodes = {{"n1", "node-a", std::nullopt, std::nullopt}, {"n2", "node-b", std::nullopt, std::nullopt}};
  attempt.ranks[1].exit.node = 1;
  attempt.ranks[0].errors = {error_of(FailureKind::kNumerics, 1000)};
  attempt.ranks[1].errors = {error_of(FailureKind::kNumerics, 2000)};
  EXPECT_EQ(collected(attempt).failure->rank, 1);
}

TEST_F(Collect, PlacesALostNodeAtARankThatWasNeverHeardOf) {
  AttemptRows attempt = clean();
  attempt.launch.end = LaunchEnd::kNodeFailed;
  attempt.launch.message = "Node failure on n2";
  attempt.ranks[0].errors = {error_of(FailureKind::kComm, 1000)};
  attempt.ranks[1].exit = {.rank = 1, .node = 1};
  const AttemptRows rows = collected(attempt);
  EXPECT_EQ(rows.failure->kind, FailureKind::kNodeFail);
  EXPECT_EQ(rows.failure->rank, 1);
}

}  // namespace
}  // namespace rematch::collect
