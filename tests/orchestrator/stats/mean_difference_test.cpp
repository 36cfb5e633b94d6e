#include "orchestrator/stats/mean_difference.h"

#include <gtest/gtest.h>

namespace rematch::stats {
namespace {

// Welch's interval of these samples: 5.5208 degrees of freedom, t = 2.49933, standard error sqrt(29/12).
TEST(MeanDifference, HasWelchsInterval) {
  const auto difference = mean_difference({1, 2, 3, 4}, {2, 4, 6, 8, 10}, 0.95);
  ASSERT_TRUE(difference);
  EXPECT_DOUBLE_EQ(difference->value, -3.5);
  EXPECT_NEAR(difference->low.value(), -7.385368, 1e-5);
  EXPECT_NEAR(difference->high.value(), 0.385368, 1e-5);
}

TEST(MeanDifference, OfSamplesThatDoNotVaryIsExact) {
  const auto difference = mean_difference({5, 5}, {2, 2, 2}, 0.95);
  EXPECT_EQ(difference->low, 3.0);
  EXPECT_EQ(difference->high, 3.0);
}

TEST(MeanDifference, HasNoIntervalOfASingleSampleAndNoValueOfNone) {
  EXPECT_DOUBLE_EQ(mean_difference({4}, {1, 2}, 0.95)->value, 2.5);
  EXPECT_FALSE(mean_difference({4}, {1, 2}, 0.95)->low);
  EXPECT_FALSE(mean_difference({}, {1, 2}, 0.95));
}

}  // namespace
}  // namespace rematch::stats
