#include "orchestrator/stats/wilson.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

namespace rematch::stats {

Share wilson_interval(std::int64_t num_hits, std::int64_t num_trials, double confidence) {
  const double z = boost::math::quantile(boost::math::complement(boost::math::normal(), (1 - confidence) / 2));
  const auto n = static_cast<double>(num_trials);
  const double share = static_cast<double>(num_hits) / n;
  const double middle = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return {num_hits == 0 ? 0 : std::max(0.0, middle - half), num_hits == num_trials ? 1 : std::min(1.0, middle + half)};
}

}  // namespace rematch::stats
