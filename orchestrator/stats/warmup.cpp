#include "orchestrator/stats/warmup.h"

#include <algorithm>
#include <limits>

namespace rematch::stats {

WarmupEnd find_warmup_end(std::span<const double> step_times, std::int64_t first_allowed) {
  const auto num_steps = static_cast<std::int64_t>(step_times.size());
  WarmupEnd end{first_allowed, false};
  double smallest = std::numeric_limits<double>::infinity();
  std::int64_t best = first_allowed;
  // From the end: mean and squared deviations of the samples from `first` on grow by one sample at a time (Welford).
  double mean = 0;
  double squares = 0;
  for (std::int64_t first = num_steps - 1; first >= std::max<std::int64_t>(0, first_allowed); --first) {
    const auto n = static_cast<double>(num_steps - first);
    const double deviation = step_times[static_cast<std::size_t>(first)] - mean;
    mean += deviation / n;
    squares += deviation * (step_times[static_cast<std::size_t>(first)] - mean);
    const double statistic = squares / (n * n);
    if (num_steps - first < kFewestStepsKept || statistic > smallest) continue;
    smallest = statistic;
    best = first;
    end.reached = true;
  }
  if (best * 2 > num_steps) end.reached = false;
  if (end.reached) end.first_steady_step = best;
  return end;
}

}  // namespace rematch::stats
