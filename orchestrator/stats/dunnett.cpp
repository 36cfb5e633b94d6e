#include "orchestrator/stats/dunnett.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <numbers>

#include "orchestrator/stats/students.h"

namespace rematch::stats {

namespace {

constexpr double kLargestLoading = 0.9999;
constexpr double kWidestNormal = 6.5;  // what lies beyond has a probability of 1e-10
constexpr double kNegligible = 1e-10;  // of the tails of the distribution of the standard deviation
constexpr int kNumNodesOfFactor = 20;  // over half of an even integrand
constexpr int kNumNodesOfLimit = 30;
constexpr double kFewDegreesOfFreedom = 60;
constexpr double kMostDegreesOfFreedom = 10'000;
constexpr double kSmallestExcess = 1e-7;  // of the error rate, as a share of it

double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }
double normal_probability(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

// Gauss-Legendre over [low, high]: nodes and weights.
template <int N>
struct Rule {
  std::array<double, N> nodes{};
  std::array<double, N> weights{};
  Rule(double low, double high) {
    using Gauss = boost::math::quadrature::gauss<double, N>;
    const double half = (high - low) / 2;
    const double middle = (high + low) / 2;
    for (std::size_t i = 0; i < N / 2; ++i) {
      nodes[2 * i] = middle - half * Gauss::abscissa()[i];
      nodes[2 * i + 1] = middle + half * Gauss::abscissa()[i];
      weights[2 * i] = weights[2 * i + 1] = half * Gauss::weights()[i];
    }
  }
};

// Of how many comparisons each loading stands for: designs without gaps have few different ones.
struct SharedLoading {
  double loading = 0;
  double scale = 1;  // sqrt(1 - loading^2)
  int count = 0;
};

std::vector<SharedLoading> shared(std::span<const double> loadings) {
  std::vector<SharedLoading> all;
  for (double loading : loadings) {
    auto same = [&](const SharedLoading& other) { return std::abs(other.loading - loading) < 1e-12; };
    auto found = std::find_if(all.begin(), all.end(), same);
    if (found == all.end()) found = all.insert(found, {loading, std::sqrt(1 - loading * loading), 0});
    ++found->count;
  }
  return all;
}

// Integrates over t, the limit of the statistics in units of the true standard deviation, and inside over the factor that they share. What
// depends on t alone is computed once, so that probabilities of several critical values between `lowest` and `highest` cost little.
class Exceedance {
 public:
  Exceedance(std::span<const double> loadings, double degrees_of_freedom, double lowest, double highest)
      : degrees_of_freedom_(degrees_of_freedom), squared_(degrees_of_freedom), limits_(range(lowest, highest)) {
    const std::vector<SharedLoading> comparisons = shared(loadings);
    const Rule<kNumNodesOfFactor> factor(0, kWidestNormal);
    for (std::size_t i = 0; i < limits_.nodes.size(); ++i) exceeding_[i] = 1 - none_exceeds(comparisons, factor, limits_.nodes[i]);
  }

  double operator()(double critical_value) const {
    double sum = kNegligible;
    for (std::size_t i = 0; i < limits_.nodes.size(); ++i) {
      const double s = limits_.nodes[i] / critical_value;  // the estimate of the standard deviation
      const double density = boost::math::pdf(squared_, degrees_of_freedom_ * s * s) * 2 * degrees_of_freedom_ * s;
      sum += limits_.weights[i] * density / critical_value * exceeding_[i];
    }
    return sum;
  }

 private:
  // Above kWidestNormal, and one more for the shift by the factor, nothing exceeds.
  Rule<kNumNodesOfLimit> range(double lowest, double highest) const {
    const double smallest = std::sqrt(boost::math::quantile(squared_, kNegligible) / degrees_of_freedom_);
    const double largest = std::sqrt(boost::math::quantile(boost::math::complement(squared_, kNegligible)) / degrees_of_freedom_);
    const double end = std::min(largest * highest, kWidestNormal + 1);
    return {std::min(smallest * lowest, end), end};
  }

  // Of standard normal variables with these loadings; the integrand is even.
  static double none_exceeds(const std::vector<SharedLoading>& comparisons, const Rule<kNumNodesOfFactor>& factor, double limit) {
    double sum = 0;
    for (std::size_t i = 0; i < factor.nodes.size(); ++i) {
      double product = 2 * factor.weights[i] * normal_density(factor.nodes[i]);
      for (const SharedLoading& comparison : comparisons) {
        const double shift = comparison.loading * factor.nodes[i];
        const double inside =
            normal_probability((limit - shift) / comparison.scale) - normal_probability((-limit - shift) / comparison.scale);
        for (int n = 0; n < comparison.count; ++n) product *= inside;
      }
      sum += product;
    }
    return sum;
  }

  double degrees_of_freedom_;
  boost::math::chi_squared squared_;
  Rule<kNumNodesOfLimit> limits_;
  std::array<double, kNumNodesOfLimit> exceeding_{};
};

struct Bracket {
  double low = 0;
  double high = 0;
};

// The logarithm of the probability is nearly linear in that of the critical value: regula falsi, where an end that stays has its weight
// halved (Illinois).
double solve(const Exceedance& exceedance, double error_rate, Bracket bracket) {
  const auto excess = [&](double value) { return std::log(exceedance(value) / error_rate); };
  double excess_low = excess(bracket.low);
  double excess_high = excess(bracket.high);
  double value = bracket.high;
  constexpr int kMostRounds = 50;
  for (int round = 0; round < kMostRounds && excess_low > 0 && excess_high < 0; ++round) {
    value = bracket.low * std::pow(bracket.high / bracket.low, excess_low / (excess_low - excess_high));
    const double found = excess(value);
    if (std::abs(found) < kSmallestExcess) break;
    (found > 0 ? bracket.low : bracket.high) = value;
    (found > 0 ? excess_low : excess_high) = found;
    (found > 0 ? excess_high : excess_low) /= 2;
  }
  return value;
}

}  // namespace

std::vector<double> one_factor_loadings(const Matrix& correlation) {
  const std::size_t size = correlation.num_rows;
  if (size < 2) return std::vector<double>(size, 0.0);
  double mean = 0;
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j) mean += i == j ? 0 : correlation(i, j) / static_cast<double>(size * (size - 1));
  std::vector<double> loadings(size, std::sqrt(std::clamp(mean, 0.01, 0.99)));
  constexpr int kNumRounds = 30;
  for (int round = 0; round < kNumRounds; ++round) {
    double change = 0;
    for (std::size_t i = 0; i < size; ++i) {
      double products = 0;
      double squares = 0;
      for (std::size_t j = 0; j < size; ++j) {
        if (i == j) continue;
        products += correlation(i, j) * loadings[j];
        squares += loadings[j] * loadings[j];
      }
      const double next = squares > 0 ? std::clamp(products / squares, -kLargestLoading, kLargestLoading) : 0.0;
      change = std::max(change, std::abs(next - loadings[i]));
      loadings[i] = next;
    }
    if (change < 1e-9) break;
  }
  return loadings;
}

double any_exceeds(std::span<const double> loadings, double degrees_of_freedom, double critical_value) {
  return Exceedance(loadings, degrees_of_freedom, critical_value, critical_value)(critical_value);
}

double dunnett_critical_value(std::span<const double> loadings, double wanted_degrees_of_freedom, double confidence) {
  const double degrees_of_freedom = std::min(wanted_degrees_of_freedom, kMostDegreesOfFreedom);
  const double single = students_critical_value(degrees_of_freedom, confidence);
  if (loadings.size() == 1) return single;
  const double error_rate = 1 - confidence;
  const double bonferroni = students_critical_value(degrees_of_freedom, 1 - error_rate / static_cast<double>(loadings.size()));
  const double value = solve(Exceedance(loadings, degrees_of_freedom, single, bonferroni), error_rate, {single, bonferroni});
  // The more degrees of freedom the narrower is the density of the deviation, and the closer its nodes must stand.
  if (degrees_of_freedom <= kFewDegreesOfFreedom) return value;
  const Bracket near{value * 0.995, value * 1.005};
  return solve(Exceedance(loadings, degrees_of_freedom, near.low, near.high), error_rate, near);
}

}  // namespace rematch::stats
