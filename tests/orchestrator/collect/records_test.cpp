// Records of an attempt that are torn, missing, of another trial or of another build, and folders that are not there.
#include <gtest/gtest.h>

#include <fstream>

#include "orchestrator/collect/collect.h"
#include "tests/orchestrator/collect/collect_fixture.h"

namespace rematch::collect {
namespace {

using base::AttemptRows;
using base::RankRows;
using protocol::FailureKind;
using protocol::Stage;

TEST_F(Collect, UsesTheWholeLinesOfATornRecord) {
  collected(clean());
  append_text(1, R"({"t":"step","ste)");
  const AttemptRows rows = collect_again();
  EXPECT_EQ(rows.ranks[1].steps.size(), 20U);
  EXPECT_FALSE(rows.ranks[1].record_complete);
  EXPECT_EQ(rows.failure->kind, FailureKind::kBadExit);
  EXPECT_NE(rows.failure->message.find("torn"), std::string::npos);
}

TEST_F(Collect, NamesTheBadLinesOfARecord) {
  collected(clean());
  append_text(0, "garbage\n");
  const AttemptRows rows = collect_again();
  ASSERT_EQ(rows.ranks[0].record_problems.size(), 1U);
  EXPECT_FALSE(rows.ranks[0].record_complete);
}

TEST_F(Collect, CallsARankOfAnotherTrainerBuildALaunchThatSaysNothingOfItsArm) {
  AttemptRows attempt = clean();
  attempt.ranks[1].hello->build_id = "another";
  const AttemptRows rows = collected(attempt);
  ASSERT_TRUE(rows.failure);
  EXPECT_EQ(rows.failure->kind, FailureKind::kLaunch);
  EXPECT_EQ(rows.failure->rank, 1);
  EXPECT_NE(rows.failure->message.find("this rank's is another"), std::string::npos) << rows.failure->message;
}

TEST_F(Collect, ReadsAnAttemptWhoseWallClockWentBack) {
  AttemptRows attempt = clean();
  attempt.launch.end_unix_ns = attempt.launch.start_unix_ns - 3'600'000'000'000;
  for (RankRows& rank : attempt.ranks) rank.bye->unix_ns = rank.hello->unix_ns - 3'600'000'000'000;
  const AttemptRows rows = collected(attempt);
  EXPECT_FALSE(rows.failure);
  EXPECT_TRUE(rows.ranks[0].record_complete);
}

TEST_F(Collect, ReportsAMissingRecordFile) {
  collected(clean());
  std::filesystem::remove(protocol::AttemptPaths{folder_}.rank_record(1));
  const AttemptRows rows = collect_again();
  EXPECT_EQ(rows.ranks[1].record_problems.front(), "no record file rank-00001.jsonl");
  EXPECT_EQ(rows.failure->rank, 1);
  EXPECT_EQ(rows.failure->stage, Stage::kSpawned);
}

TEST_F(Collect, ReportsARecordOfAnotherTrial) {
  AttemptRows attempt = clean();
  attempt.ranks[0].hello->trial_id = "00000000000000ff";
  const AttemptRows rows = collected(attempt);
  EXPECT_FALSE(rows.ranks[0].record_complete);
  EXPECT_NE(rows.ranks[0].record_problems.front().find("00000000000000ff"), std::string::npos);
}

TEST_F(Collect, StopsAtAGapInTheSteps) {
  AttemptRows attempt = clean();
  attempt.ranks[0].steps.erase(attempt.ranks[0].steps.begin() + 4);
  const AttemptRows rows = collected(attempt);
  EXPECT_EQ(rows.ranks[0].steps.size(), 4U);
  EXPECT_FALSE(rows.ranks[0].record_complete);
}

TEST_F(Collect, SurvivesAnEmptyFolderAndAMissingOne) {
  const std::filesystem::path folder = temp_.path() / "00000000000000aa" / "attempt-1";
  for (int pass = 0; pass < 2; ++pass) {
    const AttemptRows rows = collect_attempt(folder, "00000000000005ed");
    EXPECT_EQ(rows.trial.trial_id, "00000000000000aa");
    EXPECT_EQ(rows.failure->kind, FailureKind::kLost);
    EXPECT_TRUE(rows.ranks.empty());
    std::filesystem::create_directories(folder);
  }
}

}  // namespace
}  // namespace rematch::collect
