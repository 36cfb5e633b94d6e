#include "orchestrator/stats/block_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "orchestrator/stats/least_squares.h"

namespace rematch::stats {
namespace {

// Two blocks of the first arm twice and two others once, in different orders.
std::vector<RunPlace> two_blocks() { return {{0, 0, 0}, {1, 0, 1}, {0, 0, 2}, {2, 0, 3}, {2, 1, 0}, {0, 1, 1}, {1, 1, 2}, {0, 1, 3}}; }

TEST(LeastSquares, SolvesAStraightLineAndLeavesItsResiduals) {
  Matrix design(4, 2);
  for (std::size_t row = 0; row < 4; ++row) {
    design(row, 0) = 1;
    design(row, 1) = static_cast<double>(row);
  }
  const LeastSquares line(design);
  const Solution solution = line.solve(std::vector<double>{1, 3, 4, 8});
  // By hand: slope 11/5, intercept 4 - 2.2 * 1.5, residuals 0.3, 0.1, -1.1, 0.7.
  EXPECT_NEAR(solution.coefficients[1], 2.2, 1e-12);
  EXPECT_NEAR(solution.coefficients[0], 0.7, 1e-12);
  EXPECT_NEAR(solution.residual_sum_of_squares, 1.8, 1e-12);
  EXPECT_EQ(line.degrees_of_freedom(), 2U);
  EXPECT_NEAR(line.covariance(std::vector<double>{0, 1}, std::vector<double>{0, 1}), 1.0 / 5, 1e-12);
}

TEST(LeastSquares, KnowsWhatADependentColumnLeavesUndetermined) {
  Matrix design(3, 3);  // the last column is the sum of the others
  for (std::size_t row = 0; row < 3; ++row) {
    design(row, row == 0 ? 0 : 1) = 1;
    design(row, 2) = 1;
  }
  const LeastSquares model(design);
  EXPECT_EQ(model.rank(), 2U);
  EXPECT_TRUE(model.is_estimable(std::vector<double>{1, -1, 0}));
  EXPECT_FALSE(model.is_estimable(std::vector<double>{1, 0, 0}));
  EXPECT_TRUE(model.is_estimable(std::vector<double>{1, 0, 1}));
}

TEST(BlockFit, FindsEffectsBlocksAndDriftThatHaveNoNoise) {
  const std::vector<RunPlace> runs = two_blocks();
  const BlockDesign design(runs, 3, 0.95);
  ASSERT_EQ(design.refusal(), "");
  EXPECT_EQ(design.degrees_of_freedom(), 8 - 3 - 1 - 1);
  const double effects[] = {0, 0.05, -0.02};
  std::vector<double> samples;
  for (const RunPlace& run : runs) samples.push_back(16 + effects[run.arm] + 0.3 * static_cast<double>(run.block) + 0.004 * run.position);
  const BlockFit fit = design.fit(samples);
  ASSERT_EQ(fit.arms.size(), 2U);
  EXPECT_NEAR(fit.arms[0].difference, 0.05, 1e-9);
  EXPECT_NEAR(fit.arms[1].difference, -0.02, 1e-9);
  EXPECT_NEAR(fit.slope, 0.004, 1e-9);
  EXPECT_NEAR(fit.residual_sd, 0, 1e-9);
  EXPECT_EQ(fit.slope_p_value, 0);
}

TEST(BlockFit, OfEqualSamplesHasNeitherNoiseNorDrift) {
  const BlockFit fit = BlockDesign(two_blocks(), 3, 0.95).fit(std::vector<double>(8, std::log(10e6)));
  EXPECT_EQ(fit.slope_p_value, 1);
  EXPECT_NEAR(fit.arms[0].half_width, 0, 1e-9);
}

// By hand: without blocks and slope in the way, half-width = critical value * sd * sqrt(1/n + 1/m).
TEST(BlockFit, GivesCompleteBlocksTheWidthOfTheirNumbersOfRuns) {
  // Every arm's mean position is the same, so that the slope costs a degree of freedom and nothing else.
  const std::vector<RunPlace> runs = {{0, 0, 0}, {1, 0, 1}, {2, 0, 2}, {0, 0, 3}, {0, 1, 0}, {2, 1, 1}, {1, 1, 2}, {0, 1, 3}};
  const BlockDesign design(runs, 3, 0.95);
  const BlockFit fit = design.fit(std::vector<double>{0.01, -0.02, 0.03, 0.005, -0.01, 0.02, 0.015, -0.004});
  EXPECT_NEAR(fit.arms[0].half_width, design.critical_value() * fit.residual_sd * std::sqrt(1.0 / 2 + 1.0 / 4), 1e-12);
}

TEST(BlockFit, TakesAnArmThatLostABlockAsItIs) {
  std::vector<RunPlace> runs = two_blocks();
  runs.erase(runs.begin() + 4);  // arm 2 in block 1
  const BlockDesign design(runs, 3, 0.95);
  ASSERT_EQ(design.refusal(), "");
  EXPECT_EQ(design.degrees_of_freedom(), 2);
  std::vector<double> samples;
  for (const RunPlace& run : runs) samples.push_back((run.arm == 2 ? 0.07 : 0) - 0.2 * static_cast<double>(run.block));
  EXPECT_NEAR(design.fit(samples).arms[1].difference, 0.07, 1e-9) << "the block's own level is not taken for an effect";
}

TEST(BlockFit, IsRefusedForOneBlockAndForOneOrderOfArms) {
  const std::vector<RunPlace> all = two_blocks();
  const std::vector<RunPlace> one_block(all.begin(), all.begin() + 4);
  EXPECT_NE(BlockDesign(one_block, 3, 0.95).refusal().find("4 runs in 1 block"), std::string::npos);
  const std::vector<RunPlace> one_order = {{0, 0, 0}, {1, 0, 1}, {0, 1, 0}, {1, 1, 1}, {0, 2, 0}, {1, 2, 1}};
  EXPECT_NE(BlockDesign(one_order, 2, 0.95).refusal().find("same order"), std::string::npos);
  const std::vector<RunPlace> apart = {{0, 0, 0}, {0, 0, 1}, {1, 1, 0}, {1, 1, 1}, {0, 2, 0}, {0, 2, 1}};
  EXPECT_EQ(BlockDesign(apart, 2, 0.95).refusal(), "no block has runs of two arms");
}

TEST(BlockFit, ComparesOnlyArmsThatABlockJoinsToTheFirst) {
  std::vector<RunPlace> runs = two_blocks();
  runs.push_back({3, 7, 0});
  runs.push_back({3, 7, 1});
  const BlockDesign design(runs, 4, 0.95);
  EXPECT_EQ(design.compared_arms(), (std::vector<std::size_t>{1, 2}));
}

TEST(BlockFit, HasASmallerCriticalValueWithMoreBlocks) {
  const BlockDesign design(two_blocks(), 3, 0.95);
  EXPECT_DOUBLE_EQ(design.critical_value_of(2), design.critical_value());
  EXPECT_LT(design.critical_value_of(8), design.critical_value_of(3));
}

}  // namespace
}  // namespace rematch::stats
