// The difference of the means of two samples with its interval, by Welch's t (Biometrika 34, 1947, 28). Pure.
#pragma once

#include <optional>
#include <vector>

namespace rematch::stats {

struct Difference {
  double value = 0;
  std::optional<double> low;  // nullopt: fewer than two of either sample
  std::optional<double> high;
};

// mean(a) - mean(b); nullopt when either is empty. 0 < confidence < 1.
std::optional<Difference> mean_difference(const std::vector<double>& a, const std::vector<double>& b, double confidence);

}  // namespace rematch::stats
