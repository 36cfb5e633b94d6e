// A hot rank or a failure that is on another rank than the control's, in layouts with and without a pipeline.
#include <gtest/gtest.h>

#include "orchestrator/rules/judge.h"
#include "tests/orchestrator/arm_of.h"
#include "tests/orchestrator/study_builder.h"

namespace rematch::rules {
namespace {

using protocol::Phase;
using protocol::Stage;
using tests::arm_of;
using tests::kMegabyte;
using tests::RunShape;
using tests::StudyBuilder;

const protocol::ParallelSpec kTwoRanks = {.world_size = 2};
const protocol::ParallelSpec kPipeline = {.world_size = 4, .pipeline_model_parallel_size = 4};
// Ranks 0 to 3 are the first pipeline stage, 4 to 7 the second.
const protocol::ParallelSpec kTwoStages = {.world_size = 8, .tensor_model_parallel_size = 2, .pipeline_model_parallel_size = 2};

std::string notes_of(const base::StudyVerdict& verdict) {
  std::string text;
  for (const std::string& note : verdict.notes) text += note + "\n";
  return text;
}

// Peaks of 1000 MB and `extra` in the control, of 900 MB and `extra` in the candidate.
struct HotCase {
  const char* name;
  protocol::ParallelSpec layout;
  std::map<std::int64_t, std::int64_t> control_extra;
  std::map<std::int64_t, std::int64_t> candidate_extra;
  std::optional<std::pair<std::int64_t, std::int64_t>> ranks;           // from, to
  std::optional<std::pair<std::int64_t, std::int64_t>> pipeline_ranks;  // from, to
};

base::StudyVerdict judge_hot(const HotCase& row) {
  StudyBuilder builder("hot", row.layout);
  builder.add_arm({"moe_act"});
  builder.run_all("[]", {.extra_bytes = row.control_extra});
  builder.run_all("moe_act",
                  {.forward_peak_bytes = 800 * kMegabyte, .backward_peak_bytes = 900 * kMegabyte, .extra_bytes = row.candidate_extra});
  return judge_study(builder.rows());
}

TEST(HotRankMoved, IsFoundOnTheRanksOfBothArms) {
  const HotCase cases[] = {
      {"same", kPipeline, {}, {}, std::nullopt, std::nullopt},
      {"same on a tie of the candidate", kPipeline, {}, {{0, 0}, {3, 0}}, std::nullopt, std::nullopt},
      {"to the last stage", kPipeline, {}, {{3, kMegabyte}}, {{0, 3}}, {{0, 3}}},
      {"back to the first", kPipeline, {{2, kMegabyte}}, {}, {{2, 0}}, {{2, 0}}},
      {"within a stage", kTwoStages, {}, {{3, kMegabyte}}, {{0, 3}}, {{0, 0}}},
      {"to the other stage", kTwoStages, {{1, kMegabyte}}, {{5, kMegabyte}}, {{1, 5}}, {{0, 1}}},
  };
  for (const HotCase& row : cases) {
    SCOPED_TRACE(row.name);
    const auto moved = arm_of(judge_hot(row), "moe_act").hot_rank_moved;
    ASSERT_EQ(moved.has_value(), row.ranks.has_value());
    if (!moved) continue;
    EXPECT_EQ(moved->against, "[]");
    EXPECT_EQ(std::pair(moved->from.rank, moved->to.rank), *row.ranks);
    EXPECT_EQ(std::pair(moved->from.pipeline_rank, moved->to.pipeline_rank), *row.pipeline_ranks);
    EXPECT_EQ(moved->from.pipeline_size, row.layout.pipeline_model_parallel_size);
  }
}

TEST(HotRankMoved, GivesThePeaksOfBothRanksInBothArms) {
  const auto verdict = judge_hot({"", kPipeline, {}, {{3, 7 * kMegabyte}}, {}, {}});
  const base::MovedHotRank moved = arm_of(verdict, "moe_act").hot_rank_moved.value();
  EXPECT_EQ(moved.from.against->allocated_bytes, 1000 * kMegabyte);
  EXPECT_EQ(moved.from.own->allocated_bytes, 900 * kMegabyte);
  EXPECT_EQ(moved.to.against->allocated_bytes, 800 * kMegabyte);
  EXPECT_EQ(moved.to.own->allocated_bytes, 907 * kMegabyte);
  EXPECT_EQ(moved.to.own->binding_phase, Phase::kBackward);
  EXPECT_NE(notes_of(verdict).find("moe_act: the hot rank moved from rank 0 (pipeline rank 0 of 4) to rank 3 (pipeline rank 3 of 4): "
                                   "rank 0 peaked at 1.000 GB in [] and at 900.000 MB in moe_act; "
                                   "rank 3 peaked at 800.000 MB in [] and at 907.000 MB in moe_act. "
                                   "Another pipeline stage binds now"),
            std::string::npos)
      << notes_of(verdict);
}

TEST(HotRankMoved, GivesNoAdviceOnStagesWhereThereIsNoPipeline) {
  const auto verdict = judge_hot({"", kTwoRanks, {}, {{1, kMegabyte}}, {}, {}});
  EXPECT_NE(notes_of(verdict).find("moved from rank 0 to rank 1: rank 0 peaked at"), std::string::npos) << notes_of(verdict);
  EXPECT_EQ(notes_of(verdict).find("stage"), std::string::npos);
}

TEST(HotRankMoved, TakesThePeaksOfTheRunWithTheLargest) {
  StudyBuilder builder("repeats", kPipeline);
  builder.add_arm({"moe_act"});
  builder.run_all("[]");
  builder.run("moe_act", {.backward_peak_bytes = 900 * kMegabyte});
  builder.run("moe_act", {.backward_peak_bytes = 900 * kMegabyte, .extra_bytes = {{2, 40 * kMegabyte}, {0, 30 * kMegabyte}}});
  const base::MovedHotRank moved = arm_of(judge_study(builder.rows()), "moe_act").hot_rank_moved.value();
  EXPECT_EQ(moved.to.rank, 2);
  EXPECT_EQ(moved.from.own->allocated_bytes, 930 * kMegabyte);
}

TEST(HotRankMoved, IsSaidOfAReferenceWhereTheControlDoesNotFit) {
  StudyBuilder builder("reference", kPipeline);
  builder.add_arm({"moe_act"});
  builder.add_arm({"moe"});
  for (int repeat = 0; repeat < 4; ++repeat) builder.run_out_of_memory("[]", Stage::kWarm, Phase::kForward, 1);
  builder.run_all("moe_act", {});
  builder.run_all("moe", {.backward_peak_bytes = 950 * kMegabyte, .extra_bytes = {{1, kMegabyte}}});
  const auto verdict = judge_study(builder.rows());
  EXPECT_EQ(arm_of(verdict, "moe").hot_rank_moved.value().against, "moe_act");
  EXPECT_FALSE(arm_of(verdict, "moe_act").hot_rank_moved);
}

struct FailureCase {
  const char* name;
  RunShape control;
  RunShape candidate;
  Stage candidate_stage;
  std::int64_t candidate_step;
  bool moved;
  bool got_further;
};

base::StudyVerdict judge_failures(const FailureCase& row) {
  StudyBuilder builder("failures", kPipeline);
  const auto& arm = builder.add_setting(
      {.recompute_granularity = "full", .recompute_method = "block", .recompute_num_layers = 1, .core_revision = "24bad8e6"});
  const std::string name = arm.arm;
  for (int repeat = 0; repeat < 4; ++repeat) builder.run_out_of_memory("[]", Stage::kWarm, Phase::kForward, 1, row.control);
  for (int repeat = 0; repeat < 2; ++repeat)
    builder.run_out_of_memory(name, row.candidate_stage, Phase::kForward, row.candidate_step, row.candidate);
  return judge_study(builder.rows());
}

TEST(MovedFailure, IsFoundByPlaceAndByRank) {
  const FailureCase cases[] = {
      {"same place and rank", {}, {}, Stage::kWarm, 1, false, false},
      {"same rank, later", {}, {}, Stage::kSteady, 3, true, true},
      {"same rank, earlier", {}, {}, Stage::kFirstForward, 0, true, false},
      {"other rank, same place", {}, {.failing_rank = 2}, Stage::kWarm, 1, true, false},
      {"other rank, later", {.failing_rank = 3}, {.failing_rank = 0}, Stage::kSteady, 3, true, true},
  };
  for (const FailureCase& row : cases) {
    SCOPED_TRACE(row.name);
    const auto verdict = judge_failures(row);
    const auto& moved = arm_of(verdict, "full:block:1").moved;
    ASSERT_EQ(moved.has_value(), row.moved);
    if (!moved) continue;
    EXPECT_EQ(moved->got_further, row.got_further);
    EXPECT_EQ(moved->from_rank.rank, row.control.failing_rank);
    EXPECT_EQ(moved->to_rank.rank, row.candidate.failing_rank);
    EXPECT_EQ(moved->to_rank.pipeline_rank, row.candidate.failing_rank);
    EXPECT_EQ(arm_of(verdict, "full:block:1").outcome, base::Outcome::kFail) << "evidence, never a pass";
  }
}

TEST(MovedFailure, ToAnotherStageGivesWhatBothRanksHeldInBothArms) {
  const RunShape candidate = {.forward_peak_bytes = 600 * kMegabyte, .backward_peak_bytes = 700 * kMegabyte, .failing_rank = 2};
  const auto verdict = judge_failures({"", {}, candidate, Stage::kSteady, 3, true, true});
  const base::MovedFailure moved = arm_of(verdict, "full:block:1").moved.value();
  EXPECT_EQ(moved.against, "[]");
  EXPECT_EQ(moved.from_rank.against->allocated_bytes, 1000 * kMegabyte) << "of its one whole step";
  EXPECT_EQ(moved.from_rank.own->allocated_bytes, 700 * kMegabyte);
  EXPECT_EQ(moved.to_rank.against->allocated_bytes, 800 * kMegabyte);
  EXPECT_EQ(moved.to_rank.own->allocated_bytes, 960 * kMegabyte) << "of the step that failed";
  const std::string notes = tests::diagnoses_text(verdict);
  for (const char* part :
       {"full:block:1: The failure moved from warm of step 1, forward, on rank 0 (pipeline rank 0 of 4) to steady of step 3, forward, on "
        "rank 2 "
        "(pipeline rank 2 of 4).",
        "got further than the control and is no pass", "rank 2 held 960.000 MB and asked for 64.000 MB",
        "rank 2 peaked at 800.000 MB in [] and at 960.000 MB in full:block:1", "Another pipeline stage does not fit now"})
    EXPECT_NE(notes.find(part), std::string::npos) << part << "\nin: " << notes;
}

TEST(MovedFailure, GivesNoPeakOfARankThatRecordedNone) {
  StudyBuilder builder("early", kPipeline);
  builder.add_arm({"moe_act"});
  const RunShape on_last = {.failing_rank = 3};
  for (int repeat = 0; repeat < 4; ++repeat)
    for (base::RankRows& rank : builder.run_out_of_memory("[]", Stage::kFirstForward, Phase::kForward, 0).ranks)
      if (rank.rank == 3) rank.model.reset();
  for (int repeat = 0; repeat < 2; ++repeat) builder.run_out_of_memory("moe_act", Stage::kWarm, Phase::kForward, 1, on_last);
  const auto verdict = judge_study(builder.rows());
  EXPECT_FALSE(arm_of(verdict, "moe_act").moved.value().to_rank.against);
  EXPECT_NE(tests::diagnoses_text(verdict).find("peaked at - in []"), std::string::npos) << tests::diagnoses_text(verdict);
}

// The first stage of a pipeline has the dense layers, the others the experts.
TEST(Sites, OfAllPipelineRanksTogetherDecideWhetherAnArmIsActive) {
  StudyBuilder builder("sites", kPipeline);
  builder.add_arm({"mlp"});
  builder.run_all("[]");
  for (int repeat = 0; repeat < 2; ++repeat)
    for (base::RankRows& rank : builder.run("mlp").ranks)
      if (rank.rank != 0) {
        rank.model->sites.erase("mlp");
        for (protocol::StepRecord& step : rank.steps) step.replays.erase("mlp");
      }
  EXPECT_EQ(arm_of(judge_study(builder.rows()), "mlp").outcome, base::Outcome::kPass);
}

TEST(Sites, ThatNoPipelineRankHasMakeAnArmInactive) {
  StudyBuilder builder("sites", kPipeline);
  builder.add_arm({"mlp"});
  builder.run_all("[]");
  for (int repeat = 0; repeat < 2; ++repeat)
    for (base::RankRows& rank : builder.run("mlp").ranks) rank.model->sites["mlp"] = 0;
  const auto verdict = judge_study(builder.rows());
  EXPECT_EQ(arm_of(verdict, "mlp").outcome, base::Outcome::kInactive);
  EXPECT_EQ(arm_of(verdict, "mlp").reason, "mlp wrapped no region on any rank");
}

TEST(Control, IsRefutedByTheReplayOfAnyPipelineRank) {
  StudyBuilder builder("refuted", kPipeline);
  builder.run_all("[]");
  builder.rows().attempts[0].ranks[3].steps[5].replays["moe"] = 1;
  const auto verdict = judge_study(builder.rows());
  EXPECT_EQ(verdict.conclusion, base::Conclusion::kControlInvalid);
  EXPECT_NE(verdict.conclusion_reason.find("rank 3 replayed moe"), std::string::npos) << verdict.conclusion_reason;
}

}  // namespace
}  // namespace rematch::rules
