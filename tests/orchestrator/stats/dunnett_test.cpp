#include "orchestrator/stats/dunnett.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "orchestrator/stats/students.h"
#include "orchestrator/stats/wilson.h"

namespace rematch::stats {
namespace {

double critical_value(std::size_t num_arms, double correlation, double degrees_of_freedom) {
  return dunnett_critical_value(std::vector<double>(num_arms, std::sqrt(correlation)), degrees_of_freedom, 0.95);
}

// Two-sided 5 % points, correlation 1/2, of Dunnett's tables (Biometrics 20, 1964, 482), printed to two digits after the point.
TEST(Dunnett, AgreesWithThePublishedTables) {
  struct Row {
    std::size_t num_arms;
    double degrees_of_freedom;
    double published;
  };
  for (const Row& row : {Row{1, 5, 2.57}, Row{2, 5, 3.03}, Row{1, 10, 2.23}, Row{2, 10, 2.57}, Row{5, 10, 2.99}, Row{6, 10, 3.07},
                         Row{2, 20, 2.38}, Row{5, 20, 2.73}, Row{6, 20, 2.80}, Row{2, 60, 2.27}, Row{5, 60, 2.58}})
    EXPECT_NEAR(critical_value(row.num_arms, 0.5, row.degrees_of_freedom), row.published, 0.0051)
        << row.num_arms << " arms, " << row.degrees_of_freedom << " degrees of freedom";
  EXPECT_NEAR(critical_value(5, 0.5, 1e9), 2.51, 0.0051) << "the table's last line";
}

// Six candidates and the control twice in every block: correlation 1/3.
TEST(Dunnett, OfCompleteBlocksIsAsTabulated) {
  const auto of_blocks = [](int num_blocks, int spent_on_slope) {
    return critical_value(6, 1.0 / 3, 7 * (num_blocks - 1) + 1 - spent_on_slope);
  };
  EXPECT_NEAR(of_blocks(2, 0), 3.30, 0.005);
  EXPECT_NEAR(of_blocks(3, 0), 2.95, 0.005);
  EXPECT_NEAR(of_blocks(5, 0), 2.77, 0.005);
  EXPECT_NEAR(of_blocks(8, 0), 2.70, 0.005);
  EXPECT_NEAR(of_blocks(2, 1), 3.418, 0.001);
  EXPECT_NEAR(of_blocks(5, 1), 2.781, 0.001);
}

// Independent comparisons with a known deviation: (2 Phi(c) - 1)^k.
TEST(Dunnett, WithoutCorrelationIsSidaks) {
  const std::vector<double> none(4, 0.0);
  const double c = 2.3;
  // t with f degrees of freedom exceeds c more often than a normal variable by about c (c^2 + 1) / (2 f) times its density.
  EXPECT_NEAR(any_exceeds(none, 10'000, c), 1 - std::pow(std::erf(c / std::numbers::sqrt2), 4), 2e-4);
  EXPECT_NEAR(any_exceeds(std::vector<double>{0.0}, 7, c), students_p_value(c, 7), 1e-7);
}

TEST(Dunnett, HoldsItsConfidenceFromOneDegreeOfFreedomToManyAndForStrongCorrelation) {
  const std::vector<double> odd = {0.9, 0.95, 0.3, -0.5, 0.6};
  for (double freedom : {1.0, 2.0, 7.0, 60.0, 61.0, 900.0})
    for (double confidence : {0.95, 1 - 0.05 / 3})
      EXPECT_NEAR(any_exceeds(odd, freedom, dunnett_critical_value(odd, freedom, confidence)) / (1 - confidence), 1, 2e-4)
          << freedom << " degrees of freedom";
}

TEST(Dunnett, FindsTheFactorOfACorrelationThatHasOne) {
  const std::vector<double> loadings = {0.5, 0.7, 0.2, 0.6};
  Matrix correlation(4, 4);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) correlation(i, j) = i == j ? 1 : loadings[i] * loadings[j];
  const std::vector<double> found = one_factor_loadings(correlation);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(found[i], loadings[i], 1e-4);
}

// The probability that one of the statistics of a balanced design with a slope exceeds c, exactly: their correlations have two factors, the
// control's mean and the slope. By the midpoint rule over both and over the deviation.
double exceeds_with_slope(const std::vector<double>& shared, const std::vector<double>& slope, double freedom, double c) {
  constexpr int kNum = 60;
  const auto density = [](double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); };
  const auto below = [](double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; };
  double none = 0;
  double total = 0;
  for (int a = 0; a < kNum; ++a)
    for (int b = 0; b < kNum; ++b)
      for (int d = 0; d < kNum; ++d) {
        const double x = -6 + 12 * (a + 0.5) / kNum;
        const double y = -6 + 12 * (b + 0.5) / kNum;
        const double s = 2.2 * (d + 0.5) / kNum;
        const double weight = density(x) * density(y) * std::pow(s, freedom - 1) * std::exp(-freedom * (s * s - 1) / 2);
        double product = 1;
        for (std::size_t i = 0; i < shared.size(); ++i) {
          const double shift = shared[i] * x + slope[i] * y;
          const double scale = std::sqrt(1 - shared[i] * shared[i] - slope[i] * slope[i]);
          product *= below((c * s - shift) / scale) - below((-c * s - shift) / scale);
        }
        none += weight * product;
        total += weight;
      }
  return 1 - none / total;
}

TEST(Dunnett, ErrsLittleWhereASlopeAddsASecondFactor) {
  const std::vector<double> shared = {0.55, 0.52, 0.56};
  const std::vector<double> slope = {0.35, -0.3, 0.15};  // far more than orders that are shuffled give
  Matrix correlation(3, 3);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) correlation(i, j) = i == j ? 1 : shared[i] * shared[j] + slope[i] * slope[j];
  const double c = dunnett_critical_value(one_factor_loadings(correlation), 12, 0.95);
  EXPECT_NEAR(exceeds_with_slope(shared, slope, 12, c), 0.05, 0.001);
}

TEST(Wilson, IsAsPublishedAndNeverLeavesTheShares) {
  // Newcombe (Stat. Med. 17, 1998, 857), method 3, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
  struct Row {
    std::int64_t hits;
    std::int64_t trials;
    double low;
    double high;
  };
  for (const Row& row : {Row{81, 263, 0.2553, 0.3662}, Row{15, 148, 0.0624, 0.1605}, Row{0, 20, 0, 0.1611}, Row{1, 29, 0.0061, 0.1718}}) {
    const Share share = wilson_interval(row.hits, row.trials, 0.95);
    EXPECT_NEAR(share.low, row.low, 5e-5);
    EXPECT_NEAR(share.high, row.high, 5e-5);
  }
  EXPECT_EQ(wilson_interval(3, 3, 0.95).high, 1);
  EXPECT_EQ(wilson_interval(0, 3, 0.95).low, 0);
}

}  // namespace
}  // namespace rematch::stats
