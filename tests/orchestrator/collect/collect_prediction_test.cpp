// A prediction's attempt: only some ranks have records, and their clocks do not say which would have failed first.
#include <gtest/gtest.h>

#include "orchestrator/collect/collect.h"
#include "tests/orchestrator/attempt_files.h"
#include "tests/orchestrator/predicted_study.h"
#include "tests/support/temp_dir.h"

namespace rematch::collect {
namespace {

using base::AttemptRows;
using base::RankRows;
using protocol::FailureKind;
using protocol::LaunchEnd;
using protocol::Phase;
using protocol::Stage;

AttemptRows collected(const AttemptRows& attempt) {
  const tests::TempDir folder;
  return collect_attempt(tests::write_attempt(folder.path() / attempt.trial.trial_id, attempt), "00000000000005ed");
}

// Eight ranks in four pipeline stages: 0, 2, 4 and 6 stand for all.
AttemptRows predicted_attempt() {
  tests::StudyBuilder builder("predicted", tests::kStagesOfTwo);
  builder.run("[]");
  return tests::predicted(std::move(builder)).attempts.front();
}

TEST(CollectedPrediction, HasTheRanksThatWereStarted) {
  const AttemptRows rows = collected(predicted_attempt());
  std::vector<std::int64_t> ranks;
  for (const RankRows& rank : rows.ranks) {
    ranks.push_back(rank.rank);
    EXPECT_TRUE(rank.record_complete) << rank.rank;
    EXPECT_EQ(rank.exit.pid, 4000 + rank.rank) << "the exit of this rank and no other";
  }
  EXPECT_EQ(ranks, (std::vector<std::int64_t>{0, 2, 4, 6}));
  EXPECT_FALSE(rows.failure) << rows.failure->message;
  EXPECT_EQ(rows.ranks.front().steps.back().work.size(), 2U);
}

void run_out_of_memory(RankRows& rank, std::int64_t step, Phase phase, std::int64_t at_ns) {
  protocol::OomRecord oom;
  oom.stage = Stage::kWarm;
  oom.step = step;
  oom.phase = phase;
  oom.requested_bytes = 100 + rank.rank;
  oom.mono_ns = at_ns;
  oom.message = "no room";
  rank.oom = oom;
  rank.stages = tests::ledger_up_to(Stage::kWarm);
  rank.steps.resize(static_cast<std::size_t>(step));
  rank.bye.reset();
  rank.exit.exit_code = 10;
}

TEST(CollectedPrediction, PlacesItsFailureWhereARealJobWouldHaveStoppedAndNotByTheClock) {
  AttemptRows attempt = predicted_attempt();
  attempt.launch.end = LaunchEnd::kRankFailed;
  attempt.launch.cause_rank = 0;
  run_out_of_memory(attempt.ranks[0], 2, Phase::kForward, 1000);
  run_out_of_memory(attempt.ranks[2], 1, Phase::kBackward, 2000);
  run_out_of_memory(attempt.ranks[3], 1, Phase::kBackward, 1500);
  const AttemptRows rows = collected(attempt);
  ASSERT_TRUE(rows.failure);
  EXPECT_EQ(rows.failure->kind, FailureKind::kOom);
  EXPECT_EQ(rows.failure->rank, 4) << "step 1 comes before step 2, and of equal places the lowest rank counts";
  EXPECT_EQ(rows.failure->step, 1);
  EXPECT_EQ(rows.failure->requested_bytes, 104);
}

TEST(CollectedPrediction, BlamesNoRankThatTheDeadlineKeptFromStarting) {
  AttemptRows attempt = predicted_attempt();
  attempt.launch.end = LaunchEnd::kTimeout;
  run_out_of_memory(attempt.ranks[0], 1, Phase::kForward, 1000);
  for (std::size_t i = 1; i < attempt.ranks.size(); ++i) {
    attempt.ranks[i].stages.clear();
    attempt.ranks[i].steps.clear();
    attempt.ranks[i].bye.reset();
    attempt.ranks[i].exit = {attempt.ranks[i].rank, 0, std::nullopt, std::nullopt, false, 0, 0};
  }
  const AttemptRows rows = collected(attempt);
  EXPECT_EQ(rows.failure->kind, FailureKind::kOom);
  EXPECT_EQ(rows.failure->rank, 0);
}

}  // namespace
}  // namespace rematch::collect
