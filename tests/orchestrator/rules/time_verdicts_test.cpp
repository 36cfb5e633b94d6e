#include "orchestrator/rules/time_verdicts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "orchestrator/rules/judge.h"
#include "tests/orchestrator/arm_of.h"
#include "tests/orchestrator/predicted_study.h"
#include "tests/orchestrator/study_builder.h"

namespace rematch::rules {
namespace {

using base::TimeWord;
using tests::arm_of;
using tests::StudyBuilder;

// Control, core_attn and moe_act in as many blocks; moe_act takes `factor` as long; runs differ by up to `noise`, in turns.
StudyBuilder timed_study(std::int64_t num_blocks, double factor, double noise) {
  StudyBuilder builder("timed");
  builder.plan().arms.clear();
  builder.plan().trials.clear();
  builder.plan().num_blocks = num_blocks;
  builder.add_arm({});
  builder.add_arm({"core_attn"});
  builder.add_arm({"moe_act"});
  for (protocol::Trial& trial : builder.plan().trials)  // another order in every block
    trial.slot = (trial.slot * (trial.block % 2 == 0 ? 1 : 3) + trial.block) % 4;
  int turn = 0;
  for (const protocol::Trial& trial : std::vector<protocol::Trial>(builder.plan().trials)) {
    const double time = 10e6 * (trial.arm == "moe_act" ? factor : 1) * (1 + noise * ((turn++ * 5) % 7 - 3) / 3.0);
    builder.run(trial.arm, {.step_time_ns = std::llround(time)});
  }
  return builder;
}

const base::TimeVerdict& time_of(const base::StudyVerdict& verdict, const std::string& arm) {
  return arm_of(verdict, arm).effect->time.value();
}

TEST(TimeVerdicts, CallAnArmSlowerOrFasterWhenItsIntervalExcludesZero) {
  const auto slower = judge_study(timed_study(3, 1.06, 0.004).rows());
  EXPECT_EQ(time_of(slower, "moe_act").word, TimeWord::kSlower);
  EXPECT_LT(time_of(slower, "moe_act").low, 0.06);
  EXPECT_GT(time_of(slower, "moe_act").high, 0.06);
  EXPECT_EQ(time_of(slower, "moe_act").blocks_needed, std::nullopt);
  EXPECT_EQ(time_of(judge_study(timed_study(3, 0.94, 0.004).rows()), "moe_act").word, TimeWord::kFaster);
}

TEST(TimeVerdicts, CallAnArmEqualWhenItsIntervalLiesInsideTheSmallestEffect) {
  StudyBuilder builder = timed_study(3, 1.0, 0.004);
  EXPECT_EQ(time_of(judge_study(builder.rows()), "moe_act").word, TimeWord::kEqual);
  builder.plan().smallest_effect = 0.001;
  EXPECT_EQ(time_of(judge_study(builder.rows()), "moe_act").word, TimeWord::kUndecided);
}

// The blocks that are said to be needed decide when they come, and one fewer does not: the noise of this study repeats itself.
TEST(TimeVerdicts, SayHowManyBlocksWouldDecideAnUndecidedArm) {
  const base::StudyVerdict verdict = judge_study(timed_study(3, 1.008, 0.03).rows());
  const base::TimeVerdict& time = time_of(verdict, "moe_act");
  ASSERT_EQ(time.word, TimeWord::kUndecided);
  ASSERT_TRUE(time.blocks_needed);
  const double half = (std::log1p(time.high) - std::log1p(time.low)) / 2;
  const double wanted = std::max(std::abs(std::log1p(time.fraction)), 0.02 - std::abs(time.fraction));
  const double by_width_alone = 3 * half * half / (wanted * wanted);
  EXPECT_LT(static_cast<double>(*time.blocks_needed), by_width_alone + 1) << "the critical value shrinks too";
  EXPECT_GT(static_cast<double>(*time.blocks_needed), 0.4 * by_width_alone);
}

TEST(TimeVerdicts, AreFittedToTheWholeGroupWithItsNoiseAndDrift) {
  const base::StudyVerdict verdict = judge_study(timed_study(3, 1.0, 0.004).rows());
  const base::TimeFit& fit = verdict.groups.front().fit.value();
  EXPECT_EQ(fit.num_runs, 12);
  EXPECT_EQ(fit.degrees_of_freedom, 12 - 3 - 2 - 1);
  EXPECT_GT(fit.residual_sd, 0.001);
  EXPECT_LT(fit.residual_sd, 0.006);
  EXPECT_EQ(fit.confidence, 0.95);
  EXPECT_EQ(verdict.groups.front().no_fit, "");
}

TEST(TimeVerdicts, OfALookSpendAThirdOfTheErrorRate) {
  StudyBuilder builder = timed_study(3, 1.0, 0.004);
  const double of_one = judge_study(builder.rows()).groups.front().fit->critical_value;
  builder.plan().blocks_auto = true;
  const base::TimeFit fit = judge_study(builder.rows()).groups.front().fit.value();
  EXPECT_DOUBLE_EQ(fit.confidence, 1 - 0.05 / 3);
  EXPECT_GT(fit.critical_value, of_one);
}

TEST(TimeVerdicts, FlagADriftOverTheBlocks) {
  StudyBuilder builder = timed_study(3, 1.0, 0.001);
  for (base::AttemptRows& attempt : builder.rows().attempts)
    for (base::RankRows& rank : attempt.ranks)
      for (protocol::StepRecord& step : rank.steps) step.step_time_ns += 200'000 * attempt.trial.slot;
  const base::StudyVerdict verdict = judge_study(builder.rows());
  EXPECT_TRUE(verdict.groups.front().fit->drift_flagged);
  EXPECT_NEAR(verdict.groups.front().fit->drift_per_slot, 0.02, 0.002);
  EXPECT_EQ(time_of(verdict, "moe_act").word, TimeWord::kEqual) << "the drift is no effect";
  const auto is_drift = [](const std::string& note) { return note.find("Step times drift by +1.9") != std::string::npos; };
  EXPECT_TRUE(std::any_of(verdict.notes.begin(), verdict.notes.end(), is_drift));
}

TEST(TimeVerdicts, OfOneBlockAreNoneAndANoteSaysWhatIsWanted) {
  const base::StudyVerdict verdict = judge_study(timed_study(1, 1.06, 0.004).rows());
  EXPECT_FALSE(verdict.groups.front().fit);
  EXPECT_FALSE(arm_of(verdict, "moe_act").effect->time);
  EXPECT_TRUE(arm_of(verdict, "moe_act").effect->time_delta_fraction);
  const auto asks = [](const std::string& note) { return note.find("4 runs in 1 block") != std::string::npos; };
  EXPECT_TRUE(std::any_of(verdict.notes.begin(), verdict.notes.end(), asks));
}

TEST(TimeVerdicts, OfAPredictionAreNone) {
  StudyBuilder builder = timed_study(3, 1.06, 0.004);
  tests::mark_predicted(builder.rows());
  const base::StudyVerdict verdict = judge_study(builder.rows());
  EXPECT_FALSE(verdict.groups.front().fit);
  EXPECT_EQ(verdict.groups.front().no_fit, "");
  EXPECT_FALSE(arm_of(verdict, "moe_act").effect->time);
  EXPECT_FALSE(arm_of(verdict, "moe_act").effect->memory);
}

TEST(TimeVerdicts, AreGivenAgainstTheReferenceWhenTheControlDoesNotFit) {
  StudyBuilder builder = timed_study(3, 1.06, 0.004);
  for (base::AttemptRows& attempt : builder.rows().attempts) {
    if (!attempt.trial.is_control) continue;
    attempt.failure = base::Failure{};
    attempt.failure->kind = protocol::FailureKind::kOom;
  }
  const base::StudyVerdict verdict = judge_study(builder.rows());
  EXPECT_EQ(verdict.groups.front().reference_arm, "core_attn");
  EXPECT_EQ(time_of(verdict, "moe_act").word, TimeWord::kSlower);
  EXPECT_EQ(verdict.groups.front().fit->num_runs, 6);
}

}  // namespace
}  // namespace rematch::rules
