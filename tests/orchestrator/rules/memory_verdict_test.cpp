#include "orchestrator/rules/memory_verdict.h"

#include <gtest/gtest.h>

#include "orchestrator/rules/judge.h"
#include "tests/orchestrator/arm_of.h"
#include "tests/orchestrator/study_builder.h"

namespace rematch::rules {
namespace {

using base::MemoryWord;
using tests::kMegabyte;

TEST(MemoryVerdict, OfRepeatsThatAgreeToTheByteNeedsNoInterval) {
  const Peaks control(6, 1000 * kMegabyte);
  for (const auto& [delta, word] :
       {std::pair{-512L, MemoryWord::kLower}, std::pair{0L, MemoryWord::kEqual}, std::pair{512L, MemoryWord::kHigher}}) {
    const base::MemoryVerdict verdict = judge_memory(Peaks(3, control.front() + delta), control, delta, 5);
    EXPECT_EQ(verdict.word, word) << delta;
    EXPECT_FALSE(verdict.low_bytes);
    EXPECT_FALSE(verdict.high_bytes);
  }
}

TEST(MemoryVerdict, OfOneRunEachIsUndecided) {
  EXPECT_EQ(judge_memory({100}, {200}, -100, 1).word, MemoryWord::kUndecided);
  EXPECT_EQ(judge_memory({100}, {200, 200}, -100, 1).word, MemoryWord::kLower) << "the control's repeats agree";
}

TEST(MemoryVerdict, OfRepeatsThatDifferIsAnIntervalOfStudentsT) {
  // Means 890 and 1000 MB, sums of squares 200 and 200 MB^2, 3 degrees of freedom: sd sqrt(400 / 3), t = 3.1824 for one arm.
  const Peaks arm = {880 * kMegabyte, 900 * kMegabyte};
  const Peaks control = {990 * kMegabyte, 1000 * kMegabyte, 1010 * kMegabyte};
  const base::MemoryVerdict verdict = judge_memory(arm, control, -110 * kMegabyte, 1);
  EXPECT_EQ(verdict.word, MemoryWord::kLower);
  EXPECT_NEAR(static_cast<double>(*verdict.low_bytes), -143.546e6, 0.01e6);
  EXPECT_NEAR(static_cast<double>(*verdict.high_bytes), -76.454e6, 0.01e6);
  EXPECT_LT(*judge_memory(arm, control, -110 * kMegabyte, 5).low_bytes, *verdict.low_bytes) << "of five arms together";
  EXPECT_EQ(*judge_memory(arm, control, -200 * kMegabyte, 1).low_bytes, -200 * kMegabyte) << "it holds what is shown";
}

TEST(MemoryVerdict, OfAnIntervalAroundZeroIsEqualWithinTheGrowthThatIsAllowedElseUndecided) {
  const std::int64_t peak = 1000 * kMegabyte;  // 5 MB are allowed
  EXPECT_EQ(judge_memory({peak, peak + 1000, peak}, {peak, peak + 500, peak + 100}, 500, 3).word, MemoryWord::kEqual);
  EXPECT_EQ(judge_memory({peak - 9 * kMegabyte, peak}, {peak, peak + 9 * kMegabyte}, -9 * kMegabyte, 3).word, MemoryWord::kUndecided);
}

TEST(MemoryVerdict, StandsBesideTheEffectOfEveryArm) {
  const base::StudyVerdict verdict = judge_study(tests::clean_study().rows());
  EXPECT_EQ(tests::arm_of(verdict, "moe_act").effect->memory->word, MemoryWord::kLower);
  EXPECT_EQ(tests::arm_of(verdict, "core_attn").effect->memory->word, MemoryWord::kEqual);
}

TEST(PassRate, IsWilsonsIntervalOfTheJudgedRunsAndNoneWithoutOne) {
  tests::StudyBuilder builder("edge");
  builder.add_arm({"moe_act"});
  builder.add_arm({"moe"});
  builder.run_all("[]");
  builder.run("moe_act");
  builder.run_out_of_memory("moe_act", protocol::Stage::kSteady, protocol::Phase::kBackward, 9);
  const base::StudyVerdict verdict = judge_study(builder.rows());
  // 1 of 2: (1/2 + z^2/4 -+ z sqrt(1/8 + z^2/16)) / (1 + z^2/2) with z = 1.96.
  EXPECT_NEAR(tests::arm_of(verdict, "moe_act").pass_rate->low, 0.0945, 5e-4);
  EXPECT_NEAR(tests::arm_of(verdict, "moe_act").pass_rate->high, 0.9055, 5e-4);
  EXPECT_EQ(tests::arm_of(verdict, "[]").pass_rate->high, 1);
  EXPECT_FALSE(tests::arm_of(verdict, "moe").pass_rate);
}

}  // namespace
}  // namespace rematch::rules
