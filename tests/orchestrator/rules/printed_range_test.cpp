#include "orchestrator/rules/printed_range.h"

#include <gtest/gtest.h>

namespace rematch::rules {
namespace {

TEST(PrintedRange, IsHalfAUnitOfTheLastDigitToEitherSide) {
  const PrintedRange peak = printed_range(protocol::PublishedBytes{"55.6 GB", 55'600'000'000, 100'000'000, false});
  EXPECT_DOUBLE_EQ(peak.low, 55.55e9);
  EXPECT_DOUBLE_EQ(peak.high, 55.65e9);
  const PrintedRange mean = printed_range(protocol::PublishedMean{457.18, 2, false, std::nullopt, std::nullopt});
  EXPECT_DOUBLE_EQ(mean.low, 457.175);
  EXPECT_DOUBLE_EQ(mean.high, 457.185);
}

TEST(PrintedRange, OfAFigureThatIsAboutIsAWholeUnitToEitherSide) {
  const PrintedRange rate = printed_range(protocol::PublishedMean{704, 0, true, std::nullopt, std::nullopt});
  EXPECT_DOUBLE_EQ(rate.low, 703);
  EXPECT_DOUBLE_EQ(rate.high, 705);
}

TEST(PrintedRange, OfADifferenceHasWhatBothRoundingsLeaveOpen) {
  const PrintedRange difference = magnitude({3, 2.5, 3.5}, {10, 9.5, 10.5});
  EXPECT_DOUBLE_EQ(difference.low, 6);
  EXPECT_DOUBLE_EQ(difference.value, 7);
  EXPECT_DOUBLE_EQ(difference.high, 8);
  EXPECT_DOUBLE_EQ(magnitude({3, 2.5, 3.5}, {3, 2.5, 3.5}).low, 0);
  EXPECT_DOUBLE_EQ(magnitude({3, 2.5, 3.5}, {3, 2.5, 3.5}).high, 1);
}

TEST(PrintedRange, OfARatioIsWidestWhereTheRoundingsOppose) {
  const PrintedRange ratio = ratio_less_one({110, 109.5, 110.5}, {100, 99.5, 100.5}).value();
  EXPECT_DOUBLE_EQ(ratio.low, 109.5 / 100.5 - 1);
  EXPECT_DOUBLE_EQ(ratio.high, 110.5 / 99.5 - 1);
  EXPECT_FALSE(ratio_less_one({1, 1, 1}, {0.4, -0.1, 0.9}));
}

TEST(PrintedRange, OverlapsAnotherThatItsEndMeets) {
  EXPECT_TRUE(overlap({1, 0.5, 1.5}, {2, 1.5, 2.5}));
  EXPECT_FALSE(overlap({1, 0.5, 1.5}, {2, 1.6, 2.5}));
}

}  // namespace
}  // namespace rematch::rules
