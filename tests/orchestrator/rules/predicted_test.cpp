// What may be said of a prediction: it orders and warns, and never passes.
#include <gtest/gtest.h>

#include "orchestrator/rules/judge.h"
#include "orchestrator/rules/optimizer_bound.h"
#include "tests/orchestrator/arm_of.h"
#include "tests/orchestrator/predicted_study.h"

namespace rematch::rules {
namespace {

using base::Outcome;
using protocol::Phase;
using protocol::Stage;
using tests::arm_of;
using tests::kMegabyte;
using tests::StudyBuilder;

std::string words_of(const base::StudyVerdict& verdict) {
  std::string text = verdict.answer.reason + "\n" + verdict.conclusion_reason + "\n";
  for (const std::string& note : verdict.notes) text += note + "\n";
  return text + tests::diagnoses_text(verdict);
}

base::StudyRows one_saving_arm() {
  StudyBuilder builder("predicted", tests::kStagesOfTwo);
  builder.add_arm({"moe_act"});
  builder.run_all("[]");
  builder.run_all("moe_act", {.forward_peak_bytes = 800 * kMegabyte, .backward_peak_bytes = 880 * kMegabyte});
  return tests::predicted(std::move(builder));
}

TEST(APrediction, CompletesWithoutALoss) {
  const auto verdict = judge_study(one_saving_arm());
  EXPECT_EQ(arm_of(verdict, "[]").outcome, Outcome::kPass);
  EXPECT_EQ(arm_of(verdict, "moe_act").effect->peak_delta_bytes, -120 * kMegabyte);
  EXPECT_EQ(arm_of(verdict, "moe_act").provenance, protocol::Provenance::kPredicted);
}

TEST(APrediction, HasNoTimeButAnEstimate) {
  const auto verdict = judge_study(one_saving_arm());
  EXPECT_TRUE(verdict.groups.front().control_pairs.empty()) << "there is no A/A difference of estimates";
  for (const base::ArmVerdict& arm : verdict.arms) {
    EXPECT_FALSE(arm.figures->median_step_time_ns) << arm.arm;
    EXPECT_FALSE(arm.figures->tflops_per_rank) << arm.arm;
    EXPECT_GT(arm.figures->estimate->time_ns, 0) << arm.arm;
  }
  EXPECT_FALSE(arm_of(verdict, "moe_act").effect->time_delta_fraction);
  EXPECT_GT(arm_of(verdict, "moe_act").effect->estimated_time_delta_fraction.value(), 0);
  EXPECT_EQ(arm_of(verdict, "[]").figures->estimate->replay_ns, 0);
  EXPECT_GT(arm_of(verdict, "moe_act").figures->estimate->replay_ns, 0);
}

TEST(APrediction, IsSaidToBeOneAndNeverPasses) {
  base::StudyRows study = one_saving_arm();
  for (const std::optional<std::int64_t> budget :
       {std::optional<std::int64_t>(), std::optional(900 * kMegabyte), std::optional(kMegabyte)}) {
    study.plan.budget_per_rank_bytes = budget;
    const auto verdict = judge_study(study);
    const std::string words = words_of(verdict);
    EXPECT_NE(verdict.answer.reason.find("predicted"), std::string::npos) << words;
    EXPECT_EQ(verdict.notes.front().rfind("[predicted] Predicted, not measured", 0), 0u) << words;
    for (const char* word : {"passes", "passed", "faster", "slower", "settled"}) EXPECT_EQ(words.find(word), std::string::npos) << words;
  }
}

TEST(APrediction, FailsWhereARankDidNotCompleteItsSteps) {
  base::StudyRows study = one_saving_arm();
  study.attempts.back().ranks.back().steps.pop_back();
  const auto verdict = judge_study(study);
  EXPECT_EQ(arm_of(verdict, "moe_act").outcome, Outcome::kBorderline) << "the other block's run completed";
  EXPECT_NE(arm_of(verdict, "moe_act").reason.find("all_steps"), std::string::npos) << arm_of(verdict, "moe_act").reason;
}

TEST(APrediction, NamesTheRanksThatAHotRankStandsFor) {
  StudyBuilder builder("moved", tests::kStagesOfTwo);
  builder.add_arm({"moe_act"});
  builder.run_all("[]");
  builder.run_all("moe_act", {.backward_peak_bytes = 880 * kMegabyte, .extra_bytes = {{6, 10 * kMegabyte}}});
  const auto verdict = judge_study(tests::predicted(std::move(builder)));
  ASSERT_TRUE(arm_of(verdict, "moe_act").hot_rank_moved);
  EXPECT_EQ(arm_of(verdict, "moe_act").hot_rank_moved->to.num_alike, 1);
  EXPECT_NE(words_of(verdict).find("from rank 0 (and 1 alike) (pipeline rank 0 of 4) to rank 6 (and 1 alike) (pipeline rank 3 of 4)"),
            std::string::npos)
      << words_of(verdict);
}

base::StudyRows out_of_memory_in(Stage stage, Phase phase) {
  StudyBuilder builder("bound");
  builder.add_arm({"moe_act"});
  builder.plan().num_blocks = 1;
  for (const char* arm : {"[]", "moe_act"})
    for (const protocol::Trial& trial : std::vector<protocol::Trial>(builder.plan().trials))
      if (trial.arm == arm) builder.run_out_of_memory(arm, stage, phase, 0);
  return tests::predicted(std::move(builder));
}

TEST(OptimizerBound, IsAStudyInWhichEveryArmRunsOutWhileTheOptimizersStateIsMade) {
  const auto study = out_of_memory_in(Stage::kOptimizerInit, Phase::kOptimizerInit);
  const auto verdict = judge_study(study);
  const auto bound = find_optimizer_bound(study, verdict);
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->parameter_bytes, 150 * kMegabyte);
  EXPECT_EQ(bound->optimizer_state_bytes, 250 * kMegabyte);
  EXPECT_EQ(bound->requested_bytes, 64 * kMegabyte);
  EXPECT_EQ(bound->capacity_bytes, 1000 * kMegabyte);
  const std::string words = tests::diagnoses_text(verdict);
  for (const char* part :
       {"optimizer-bound", "rank 0 (and 1 alike)", "150.000 MB", "250.000 MB", "400.000 MB of the", "64.000 MB", "1.000 GB"})
    EXPECT_NE(words.find(part), std::string::npos) << part << "\nin: " << words;
  EXPECT_EQ(verdict.conclusion, base::Conclusion::kNoneMeetsBudget);
}

TEST(OptimizerBound, CountsThePhaseOfTheFirstUpdateAsWell) {
  const auto study = out_of_memory_in(Stage::kOptimizerInit, Phase::kOptimizer);
  EXPECT_TRUE(find_optimizer_bound(study, judge_study(study)));
}

TEST(OptimizerBound, IsNoStudyInWhichALabelMightHelp) {
  const auto study = out_of_memory_in(Stage::kFirstBackward, Phase::kBackward);
  EXPECT_FALSE(find_optimizer_bound(study, judge_study(study)));
  base::StudyRows mixed = out_of_memory_in(Stage::kOptimizerInit, Phase::kOptimizerInit);
  mixed.attempts.back().failure->stage = Stage::kFirstForward;
  EXPECT_FALSE(find_optimizer_bound(mixed, judge_study(mixed)));
}

}  // namespace
}  // namespace rematch::rules
