#include "orchestrator/rules/compare_sides.h"

#include <gtest/gtest.h>

#include "orchestrator/rules/judge.h"
#include "tests/orchestrator/study_builder.h"

namespace rematch::rules {
namespace {

using base::RunSummary;

RunSummary run(const std::string& trial, std::int64_t peak, double step_time_ns, base::Outcome outcome = base::Outcome::kPass) {
  RunSummary summary{.trial_id = trial, .arm = "moe_act", .outcome = outcome};
  if (outcome != base::Outcome::kPass) return summary;
  summary.peak_allocated_bytes = peak;
  summary.step_time_ns = step_time_ns;
  return summary;
}

class CompareSides : public ::testing::Test {
 protected:
  ComparedSide side(const base::AttemptRows& record, std::vector<RunSummary> runs) {
    return {.name = "moe_act", .arm = "moe_act", .outcome = base::Outcome::kPass, .runs = std::move(runs), .record = &record};
  }
  SideComparison compare(const std::vector<RunSummary>& own, const std::vector<RunSummary>& against, const ComparisonTerms& terms = {}) {
    return compare_sides(side(record_, own), side(other_, against), terms);
  }

  base::AttemptRows record_ = tests::clean_study().rows().attempts.front();
  base::AttemptRows other_ = record_;
};

TEST_F(CompareSides, CountsOfEachTrialTheLastConclusiveAttempt) {
  std::vector<RunSummary> runs = {run("a", 1, 1, base::Outcome::kFail), run("a", 2, 1), run("a", 3, 1, base::Outcome::kLost),
                                  run("b", 4, 1)};
  const std::vector<RunSummary> counting = runs_that_count(runs);
  ASSERT_EQ(counting.size(), 2U);
  EXPECT_EQ(counting[0].peak_allocated_bytes, 2);
  EXPECT_EQ(run_that_stands(counting)->trial_id, "a");
  EXPECT_EQ(run_that_stands({}), nullptr);
}

TEST_F(CompareSides, GivesTheExactDifferenceOfPeaksAndWelchsIntervalOfTimes) {
  const auto result = compare({run("a", 1100, 1.05e9), run("b", 1100, 1.06e9), run("c", 1100, 1.04e9)},
                              {run("d", 1000, 1.00e9), run("e", 1000, 1.01e9), run("f", 1000, 0.99e9)});
  EXPECT_TRUE(result.is_compared());
  EXPECT_EQ(*result.own.peak_allocated_bytes - *result.against.peak_allocated_bytes, 100);
  EXPECT_EQ(result.memory->word, base::MemoryWord::kHigher);
  ASSERT_TRUE(result.time);
  EXPECT_NEAR(result.time->fraction, 0.05, 0.001);
  EXPECT_NEAR(*result.time->low, 0.0266, 0.001) << "t of 4 degrees of freedom, 2.776, times the root of the summed variances of the means";
  EXPECT_NEAR(*result.time->high, 0.0739, 0.001);
  EXPECT_EQ(result.time->word, base::TimeWord::kSlower);
}

TEST_F(CompareSides, WithoutRepeatsThereIsNoIntervalAndNoWord) {
  const auto result = compare({run("a", 1100, 1.05e9)}, {run("d", 1000, 1.00e9)});
  EXPECT_NEAR(result.time->fraction, 0.05, 1e-9);
  EXPECT_FALSE(result.time->low);
  EXPECT_FALSE(result.time->word);
  EXPECT_EQ(result.memory->word, base::MemoryWord::kUndecided);
}

TEST_F(CompareSides, TheWordGoesByTheSmallestEffect) {
  const std::vector<RunSummary> own = {run("a", 1, 1.001e9), run("b", 1, 1.002e9)};
  const std::vector<RunSummary> against = {run("c", 1, 1.000e9), run("d", 1, 1.001e9)};
  EXPECT_EQ(compare(own, against, {.smallest_effect = 0.02}).time->word, base::TimeWord::kEqual);
  EXPECT_EQ(compare(own, against, {.smallest_effect = 0.001}).time->word, base::TimeWord::kUndecided);
}

TEST_F(CompareSides, RefusesFieldsThatDifferUnlessTheyAreMeantToOrItIsForced) {
  for (base::RankRows& rank : other_.ranks) rank.hello->machine.driver_version = "999";
  const std::vector<RunSummary> runs = {run("a", 1, 1e9), run("b", 1, 1e9)};
  const auto refused = compare(runs, runs);
  EXPECT_EQ(refused.refusal, "differ beside recompute in machine.driver_version");
  EXPECT_FALSE(refused.time);
  EXPECT_FALSE(refused.memory);
  ASSERT_EQ(refused.unmatched.size(), 1U);
  EXPECT_EQ(refused.unmatched.front().differences.front().against_value, "999");
  for (const char* name : {"machine.driver_version", "machine"}) {
    const auto varied = compare(runs, runs, {.varied = {name}});
    EXPECT_TRUE(varied.is_compared());
    EXPECT_TRUE(varied.unmatched.empty());
    ASSERT_EQ(varied.varied.size(), 1U);
    EXPECT_EQ(varied.varied.front().field, "machine.driver_version");
  }
  EXPECT_FALSE(compare(runs, runs, {.varied = {"mach"}}).is_compared());
  const auto forced = compare(runs, runs, {.matching = Matching::kForced});
  EXPECT_TRUE(forced.is_compared());
  EXPECT_EQ(forced.unmatched.size(), 1U);
}

TEST_F(CompareSides, TwoProvenancesAreNeverCompared) {
  for (base::RankRows& rank : other_.ranks) rank.hello->provenance = protocol::Provenance::kMeasured;
  ASSERT_NE(record_.ranks.front().hello->provenance, protocol::Provenance::kMeasured);
  const std::vector<RunSummary> runs = {run("a", 1, 1e9)};
  const auto result = compare(runs, runs, {.varied = {"hello"}, .matching = Matching::kForced});
  EXPECT_NE(result.refusal.find("figures of two provenances"), std::string::npos);
  EXPECT_FALSE(result.time);
}

TEST_F(CompareSides, ARunThatIsUnmatchedInItsOwnStudyRefusesTheArm) {
  ComparedSide own = side(record_, {run("a", 1, 1e9)});
  own.unmatched = {{"a", 1, "moe_act", "b", {{"launch.host", "x", "y"}}}};
  const auto result = compare_sides(own, side(other_, {run("c", 1, 1e9)}), {});
  EXPECT_EQ(result.refusal, "differ beside recompute in launch.host");
}

TEST_F(CompareSides, AFailedSideHasNoFiguresAndNoDifferences) {
  const auto result = compare({run("a", 1, 1, base::Outcome::kFail)}, {run("c", 1000, 1e9)});
  EXPECT_TRUE(result.is_compared());
  EXPECT_FALSE(result.own.peak_allocated_bytes);
  EXPECT_FALSE(result.time);
  EXPECT_FALSE(result.memory);
}

}  // namespace
}  // namespace rematch::rules
