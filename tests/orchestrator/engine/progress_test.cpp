#include <gtest/gtest.h>

#include <fstream>

#include "orchestrator/engine/record_tail.h"
#include "orchestrator/engine/remaining_time.h"
#include "schemas/protocol/record_file.h"
#include "schemas/protocol/trial_paths.h"
#include "tests/support/make_trial.h"
#include "tests/support/temp_dir.h"

namespace rematch::engine {
namespace {

protocol::StepRecord step(std::int64_t index, std::int64_t peak_bytes) {
  protocol::StepRecord record;
  record.step = index;
  record.loss_bits = "00000000";
  record.lifetime_peak_allocated_bytes = peak_bytes;
  return record;
}

TEST(RecordTail, KnowsNothingBeforeAFirstStep) {
  const tests::TempDir folder;
  const RunningSteps steps = read_running_steps(folder.path(), tests::make_trial(2));
  EXPECT_EQ(steps.num_steps_completed, 0);
  EXPECT_EQ(steps.hot_peak_allocated_bytes, std::nullopt);
}

TEST(RecordTail, TakesStepsFromRankZeroAndThePeakFromTheHottestRank) {
  const tests::TempDir folder;
  const protocol::AttemptPaths paths{folder.path()};
  protocol::RecordWriter zero(paths.rank_record(0));
  zero.append(step(0, 100));
  zero.append(step(1, 120));
  protocol::RecordWriter(paths.rank_record(1)).append(step(0, 300));
  const RunningSteps steps = read_running_steps(folder.path(), tests::make_trial(2));
  EXPECT_EQ(steps.num_steps_completed, 2);
  EXPECT_EQ(steps.hot_peak_allocated_bytes, 300);
}

TEST(RecordTail, TakesTheMeanOfAPredictionsRanksWhichTakeTurns) {
  const tests::TempDir folder;
  const protocol::AttemptPaths paths{folder.path()};
  protocol::Trial trial = tests::make_trial(8);
  trial.parallel.pipeline_model_parallel_size = 4;
  trial.prediction.emplace();
  for (std::int64_t rank : {0, 2}) protocol::RecordWriter(paths.rank_record(rank)).append(step(2, 100 + rank));
  protocol::RecordWriter(paths.rank_record(1)).append(step(9, 900));  // no rank that is started
  const RunningSteps steps = read_running_steps(folder.path(), trial);
  EXPECT_EQ(steps.num_steps_completed, 6 / 4);
  EXPECT_EQ(steps.hot_peak_allocated_bytes, 102);
}

TEST(RecordTail, LooksPastALineThatIsStillBeingWrittenAndLinesThatAreNoSteps) {
  const tests::TempDir folder;
  const protocol::AttemptPaths paths{folder.path()};
  protocol::RecordWriter writer(paths.rank_record(0));
  writer.append(step(6, 100));
  writer.append(protocol::StageRecord{protocol::Stage::kSteady, protocol::StageEvent::kEnter, 7, 1, 1});
  std::ofstream(paths.rank_record(0), std::ios::app) << "no record\n{\"t\":\"step\",\"st";
  EXPECT_EQ(read_running_steps(folder.path(), tests::make_trial(1)).num_steps_completed, 7);
}

TEST(RemainingTime, SaysNothingBeforeAnythingIsKnown) { EXPECT_EQ(RemainingTime(10).seconds_left(3.0, 0.0), std::nullopt); }

TEST(RemainingTime, ExtrapolatesTheFirstTrialFromItsSteps) {
  EXPECT_DOUBLE_EQ(RemainingTime(3).seconds_left(2.0, 0.5).value(), 2.0 + 2 * 4.0);
}

TEST(RemainingTime, UsesTheMeanOfTheTrialsThatEnded) {
  RemainingTime remaining(4);
  remaining.trial_took(2.0);
  remaining.trial_took(4.0);
  EXPECT_DOUBLE_EQ(remaining.seconds_left(1.0, 0.9).value(), 2.0 + 3.0);
}

TEST(RemainingTime, IsNeverNegative) {
  RemainingTime remaining(1);
  remaining.trial_took(2.0);
  EXPECT_DOUBLE_EQ(remaining.seconds_left(9.0, 0.1).value(), 0.0);
}

}  // namespace
}  // namespace rematch::engine
