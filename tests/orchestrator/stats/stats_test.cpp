#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "orchestrator/stats/median.h"
#include "orchestrator/stats/plateau.h"
#include "orchestrator/stats/ratio.h"
#include "orchestrator/stats/warmup.h"

namespace rematch::stats {
namespace {

TEST(Median, IsTheMiddleOfAnOddNumberAndTheMeanOfTheMiddleTwoOfAnEvenOne) {
  EXPECT_EQ(median({3, 1, 2}), 2.0);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({7}), 7.0);
}

TEST(Median, OfNothingIsNotMeasured) { EXPECT_EQ(median({}), std::nullopt); }

TEST(Ratio, IsNotMeasuredWhenEitherSideIsNotOrTheBaseIsZero) {
  EXPECT_DOUBLE_EQ(*difference_fraction(110.0, 100.0), 110.0 / 100.0 - 1);
  EXPECT_EQ(difference_fraction(std::nullopt, 1.0), std::nullopt);
  EXPECT_EQ(difference_fraction(1.0, std::nullopt), std::nullopt);
  EXPECT_EQ(difference_fraction(1.0, 0.0), std::nullopt);
}

std::vector<double> times_with_slow_start(int num_slow, int num_steps) {
  std::vector<double> times;
  for (int i = 0; i < num_steps; ++i) times.push_back(i < num_slow ? 30.0 - i : 10.0 + 0.01 * (i % 3));
  return times;
}

TEST(Warmup, EndsWhereTheSlowStepsEnd) {
  const WarmupEnd end = find_warmup_end(times_with_slow_start(4, 30), 0);
  EXPECT_TRUE(end.reached);
  EXPECT_EQ(end.first_steady_step, 4);
}

TEST(Warmup, NeverEndsBeforeTheFirstAllowedStep) {
  const WarmupEnd end = find_warmup_end(times_with_slow_start(1, 30), 3);
  EXPECT_TRUE(end.reached);
  EXPECT_GE(end.first_steady_step, 3);
}

TEST(Warmup, IsNotReachedWhenTheTimesSettlePastHalfOfTheRun) {
  const WarmupEnd end = find_warmup_end(times_with_slow_start(18, 30), 2);
  EXPECT_FALSE(end.reached);
  EXPECT_EQ(end.first_steady_step, 2);
}

TEST(Warmup, KeepsAtLeastTenSteps) {
  const WarmupEnd end = find_warmup_end(times_with_slow_start(11, 20), 0);
  EXPECT_LE(end.first_steady_step, 20 - kFewestStepsKept);
  EXPECT_FALSE(find_warmup_end(times_with_slow_start(0, 9), 0).reached);
}

// MSER by its definition, for every number of steps dropped.
std::int64_t truncation_by_definition(const std::vector<double>& times, std::size_t first_allowed) {
  double smallest = std::numeric_limits<double>::infinity();
  std::size_t best = first_allowed;
  for (std::size_t first = first_allowed; first + kFewestStepsKept <= times.size(); ++first) {
    const std::vector<double> kept(times.begin() + static_cast<std::ptrdiff_t>(first), times.end());
    const auto n = static_cast<double>(kept.size());
    const double mean = std::accumulate(kept.begin(), kept.end(), 0.0) / n;
    double squares = 0;
    for (double time : kept) squares += (time - mean) * (time - mean);
    if (squares / (n * n) >= smallest) continue;
    smallest = squares / (n * n);
    best = first;
  }
  return static_cast<std::int64_t>(best);
}

TEST(Warmup, IsTheTruncationPointOfMser) {
  std::mt19937 random(7);
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::vector<double> times;
    for (int i = 0; i < 60; ++i) times.push_back(10 + 8 * std::exp(-i / 4.0) + static_cast<double>(random() % 1000) / 1000);
    const WarmupEnd end = find_warmup_end(times, 2);
    const std::int64_t truncation = truncation_by_definition(times, 2);
    EXPECT_EQ(end.reached, truncation <= 30);
    EXPECT_EQ(end.first_steady_step, end.reached ? truncation : 2);
  }
}

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

TEST(Plateau, IsReachedWhenThePeakStandsStill) {
  const std::vector<std::int64_t> peaks = {100 * kMiB, 200 * kMiB, 200 * kMiB, 200 * kMiB, 200 * kMiB, 200 * kMiB};
  EXPECT_TRUE(find_plateau(peaks).reached);
}

TEST(Plateau, AllowsTwoMebibytesOfGrowthAndNotAByteMore) {
  std::vector<std::int64_t> peaks = {100 * kMiB, 100 * kMiB, 102 * kMiB};
  EXPECT_TRUE(find_plateau(peaks).reached);
  peaks.back() += 1;
  EXPECT_FALSE(find_plateau(peaks).reached);
  EXPECT_EQ(find_plateau(peaks).growth_bytes, 2 * kMiB + 1);
}

TEST(Plateau, AllowsHalfAPercentOfALargePeak) {
  const std::int64_t large = 10'000 * kMiB;
  EXPECT_TRUE(find_plateau(std::vector<std::int64_t>{large, large, large + large / 200}).reached);
  EXPECT_FALSE(find_plateau(std::vector<std::int64_t>{large, large, large + large / 200 + 1}).reached);
}

TEST(Plateau, IsNotReachedByFewerThanThreeSteps) { EXPECT_FALSE(find_plateau(std::vector<std::int64_t>{kMiB, kMiB}).reached); }

}  // namespace
}  // namespace rematch::stats
