// What the answer rests on and says beside itself, the noise that times are set against, and the Pareto set.
#include "orchestrator/rules/answer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "orchestrator/rules/judge.h"
#include "orchestrator/rules/pareto.h"
#include "orchestrator/rules/time_noise.h"
#include "tests/orchestrator/arm_of.h"
#include "tests/orchestrator/study_builder.h"

namespace rematch::rules {
namespace {

using tests::kMegabyte;

// The control does not fit; two candidates do, and each ran twice.
tests::StudyBuilder two_that_fit(std::int64_t narrow_ns, std::int64_t narrow_again_ns, std::int64_t wide_ns) {
  tests::StudyBuilder builder("two");
  builder.add_arm({"moe_act"});
  builder.add_arm({"moe"});
  builder.plan().budget_per_rank_bytes = 900 * kMegabyte;
  for (int repeat = 0; repeat < 4; ++repeat) builder.run_out_of_memory("[]", protocol::Stage::kWarm, protocol::Phase::kForward, 1);
  builder.run("moe_act", {.forward_peak_bytes = 800 * kMegabyte, .backward_peak_bytes = 850 * kMegabyte, .step_time_ns = narrow_ns});
  builder.run("moe_act", {.forward_peak_bytes = 800 * kMegabyte, .backward_peak_bytes = 850 * kMegabyte, .step_time_ns = narrow_again_ns});
  builder.run_all("moe", {.forward_peak_bytes = 600 * kMegabyte, .backward_peak_bytes = 700 * kMegabyte, .step_time_ns = wide_ns});
  return builder;
}

// Without an interval of any time.
base::StudyVerdict judged(const base::StudyRows& study) {
  base::StudyVerdict verdict = judge_study(study);
  for (base::ArmVerdict& arm : verdict.arms)
    if (arm.effect) arm.effect->time.reset();
  return verdict;
}

TEST(TimeNoise, IsTheSpreadOfRepeatsWhereNoControlPassed) {
  const auto verdict = judged(two_that_fit(10'000'000, 10'200'000, 9'000'000).rows());
  const TimeNoise noise = time_noise(verdict, verdict.groups.front());
  EXPECT_EQ(noise.basis, NoiseBasis::kRepeats);
  EXPECT_NEAR(noise.fraction, 0.02, 1e-3);
}

TEST(TimeNoise, IsTheLargestDifferenceOfTwoControlsWhereTheyPassed) {
  const auto verdict = judged(tests::clean_study().rows());
  const TimeNoise noise = time_noise(verdict, verdict.groups.front());
  EXPECT_EQ(noise.basis, NoiseBasis::kControlPairs);
  EXPECT_NEAR(noise.fraction, 0.01, 1e-3);
}

TEST(TimeNoise, IsTheWidestIntervalForTwoCandidatesWhereThereIsAFit) {
  auto verdict = judged(tests::clean_study().rows());
  verdict.arms[1].effect->time = base::TimeVerdict{0.04, 0.03, 0.05, base::TimeWord::kSlower, {}};
  const TimeNoise noise = time_noise(verdict, verdict.groups.front());
  EXPECT_EQ(noise.basis, NoiseBasis::kIntervals);
  EXPECT_NEAR(noise.fraction, 0.01 * std::sqrt(4.0 / 3), 1e-9);
}

TEST(TimeNoise, IsNotKnownOfSingleRuns) {
  tests::StudyBuilder builder("single");
  builder.add_arm({"moe"});
  builder.run("[]");
  builder.run("moe");
  const auto verdict = judged(builder.rows());
  EXPECT_EQ(time_noise(verdict, verdict.groups.front()).basis, NoiseBasis::kNone);
}

TEST(Answer, IsTheQuickerOfTwoThatRepeatsTellApartAndTheNarrowerOtherwise) {
  const auto answer_of = [](std::int64_t again_ns, std::int64_t wide_ns) {
    const auto rows = two_that_fit(10'000'000, again_ns, wide_ns).rows();
    return find_answer(rows, judged(rows)).arm.value();
  };
  EXPECT_EQ(answer_of(10'100'000, 9'000'000), "moe");
  EXPECT_EQ(answer_of(11'500'000, 9'800'000), "moe_act");
}

TEST(Answer, SaysWhatItIsAboutWhatItRestsOnAndWhatWouldChangeIt) {
  const auto rows = two_that_fit(10'000'000, 10'000'000, 11'000'000).rows();
  const base::Answer answer = find_answer(rows, judged(rows));
  EXPECT_EQ(answer.arm, "moe_act");
  EXPECT_EQ(answer.margin_bytes, 50 * kMegabyte);
  EXPECT_EQ(answer.headroom_arm, "moe");
  EXPECT_TRUE(answer.headroom_is_measured);
  EXPECT_EQ(
      answer.scope,
      "moonlight_16b (mla_moe), changed: hidden_size, num_layers; attention fused; 2 ranks, DP=2; Megatron Core 24bad8e6; device cpu");
  EXPECT_NE(answer.confidence.find("2 of 2 runs pass"), std::string::npos) << answer.confidence;
  EXPECT_NE(answer.confidence.find("the peak is the same in every run"), std::string::npos) << answer.confidence;
  ASSERT_EQ(answer.would_change.size(), 3U);
  EXPECT_EQ(answer.would_change[0], "a budget below 850.000 MB a rank, which is its peak: then moe");
  EXPECT_EQ(answer.would_change[1], "a wish for 150.000 MB more headroom: moe, at +10.00 % of time");
}

TEST(Answer, NamesTheBudgetThatTheControlWouldMeet) {
  tests::StudyBuilder builder = tests::clean_study();
  builder.plan().budget_per_rank_bytes = 900 * kMegabyte;
  const base::Answer answer = judge_study(builder.rows()).answer;
  EXPECT_EQ(answer.arm, "moe_act");
  EXPECT_EQ(answer.would_change.at(1), "a budget of 1.000 GB a rank or more, which [] meets without recompute");
}

TEST(Answer, IsNeverOfTwoGroups) {
  tests::StudyBuilder builder = tests::clean_study();
  builder.plan().budget_per_rank_bytes = 950 * kMegabyte;
  base::StudyRows rows = builder.rows();
  rows.plan.arms[2].group_id = tests::hex_id(0xcc);
  rows.plan.arms[2].variation = "expandable_segments";
  const base::StudyVerdict verdict = judge_study(rows);
  EXPECT_EQ(verdict.answer.arm, "moe_act") << "nothing of the first group meets the budget";
  EXPECT_NE(verdict.answer.scope.find("; expandable_segments"), std::string::npos) << verdict.answer.scope;
  rows.plan.budget_per_rank_bytes = 1100 * kMegabyte;
  EXPECT_EQ(judge_study(rows).answer.arm, "[]");
  EXPECT_EQ(judge_study(rows).answer.headroom_arm, std::nullopt) << "moe_act is of another group";
}

TEST(ParetoSet, HoldsWhatNothingOfItsGroupBeatsInBoth) {
  tests::StudyBuilder builder("pareto");
  builder.add_arm({"core_attn"});
  builder.add_arm({"moe_act"});
  builder.add_arm({"moe"});
  builder.run_all("[]", {.step_time_ns = 10'000'000});
  builder.run_all("core_attn", {.backward_peak_bytes = 990 * kMegabyte, .step_time_ns = 10'400'000});
  builder.run_all("moe_act", {.forward_peak_bytes = 800 * kMegabyte, .backward_peak_bytes = 880 * kMegabyte, .step_time_ns = 10'200'000});
  builder.run_all("moe", {.forward_peak_bytes = 800 * kMegabyte, .backward_peak_bytes = 880 * kMegabyte, .step_time_ns = 10'200'000});
  const base::StudyVerdict verdict = judge_study(builder.rows());
  EXPECT_TRUE(tests::arm_of(verdict, "[]").is_pareto);
  EXPECT_FALSE(tests::arm_of(verdict, "core_attn").is_pareto) << "moe_act is lower and quicker";
  EXPECT_TRUE(tests::arm_of(verdict, "moe_act").is_pareto);
  EXPECT_TRUE(tests::arm_of(verdict, "moe").is_pareto) << "as low and as quick as moe_act";
}

// Controls 2 % apart; the candidates' peaks are below the control's, so one of them is the arm to take for headroom.
std::string headroom_arm(std::int64_t narrow_step_time_ns, std::int64_t wide_step_time_ns) {
  constexpr std::int64_t kLowerPeak = 800 * kMegabyte;
  tests::StudyBuilder builder("noise");
  builder.add_arm({"moe_act"});
  builder.add_arm({"moe"});
  for (const std::int64_t first : {10'000'000, 10'200'000}) {  // no drift tells them apart
    builder.run("[]", {.step_time_ns = first});
    builder.run("[]", {.step_time_ns = 20'200'000 - first});
  }
  builder.run_all("moe_act", {.forward_peak_bytes = kLowerPeak, .backward_peak_bytes = kLowerPeak, .step_time_ns = narrow_step_time_ns});
  builder.run_all("moe", {.forward_peak_bytes = kLowerPeak, .backward_peak_bytes = kLowerPeak, .step_time_ns = wide_step_time_ns});
  return judge_study(builder.rows()).answer.headroom_arm.value_or("none");
}

TEST(Answer, TakesTheNarrowerArmWhenTheNoiseDoesNotTellThemApart) {
  EXPECT_EQ(headroom_arm(10'500'000, 10'400'000), "moe_act");
  EXPECT_EQ(headroom_arm(14'000'000, 10'400'000), "moe");
}

// moe takes three times as long as moe+layernorm, and no control passes.
base::StudyRows slow_moe_study() {
  base::StudyRows study = tests::capacity_study().rows();
  for (base::AttemptRows& attempt : study.attempts)
    if (attempt.trial.arm == "moe")
      for (base::RankRows& rank : attempt.ranks)
        for (protocol::StepRecord& step : rank.steps) step.step_time_ns *= 3;
  return study;
}

TEST(Answer, TakesTheQuickestPassingArmWhenRepeatsTellTheNoise) { EXPECT_EQ(judge_study(slow_moe_study()).answer.arm, "moe+layernorm"); }

TEST(Answer, TakesTheNarrowestPassingArmWhenNothingTellsTheNoise) {
  base::StudyRows study = slow_moe_study();
  std::erase_if(study.plan.trials, [](const protocol::Trial& trial) { return trial.block > 0; });
  std::erase_if(study.attempts, [](const base::AttemptRows& attempt) { return attempt.trial.block > 0; });
  EXPECT_EQ(judge_study(study).answer.arm, "moe");
}

}  // namespace
}  // namespace rematch::rules
