#include "orchestrator/stats/mean_difference.h"

#include <cmath>
#include <numeric>

#include "orchestrator/stats/students.h"

namespace rematch::stats {

namespace {

double mean(const std::vector<double>& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

// Of the mean; of two samples or more.
double variance_of_mean(const std::vector<double>& samples) {
  const double center = mean(samples);
  double sum = 0;
  for (const double sample : samples) sum += (sample - center) * (sample - center);
  const auto count = static_cast<double>(samples.size());
  return sum / (count - 1) / count;
}

}  // namespace

std::optional<Difference> mean_difference(const std::vector<double>& a, const std::vector<double>& b, double confidence) {
  if (a.empty() || b.empty()) return std::nullopt;
  Difference difference{mean(a) - mean(b), std::nullopt, std::nullopt};
  if (a.size() < 2 || b.size() < 2) return difference;
  const double of_a = variance_of_mean(a);
  const double of_b = variance_of_mean(b);
  const double variance = of_a + of_b;
  double half_width = 0;
  if (variance > 0) {
    const double degrees_of_freedom =
        variance * variance / (of_a * of_a / static_cast<double>(a.size() - 1) + of_b * of_b / static_cast<double>(b.size() - 1));
    half_width = students_critical_value(degrees_of_freedom, confidence) * std::sqrt(variance);
  }
  difference.low = difference.value - half_width;
  difference.high = difference.value + half_width;
  return difference;
}

}  // namespace rematch::stats
