#include "orchestrator/stats/warmup.h"

#include <limits>

namespace rematch::stats {

namespace {

// MSER's statistic of the samples from `first` on: sum of squared deviations / n^2.
double mser_statistic(std::span<const double> samples) {
  const double n = static_cast<double>(samples.size());
  double mean = 0;
  for (double sample : samples) mean += sample / n;
  double squares = 0;
  for (double sample : samples) squares += (sample - mean) * (sample - mean);
  return squares / (n * n);
}

}  // namespace

WarmupEnd find_warmup_end(std::span<const double> step_times, std::int64_t first_allowed) {
  const auto num_steps = static_cast<std::int64_t>(step_times.size());
  WarmupEnd end{first_allowed, false};
  double smallest = std::numeric_limits<double>::infinity();
  std::int64_t best = first_allowed;
  for (std::int64_t first = first_allowed; num_steps - first >= kFewestStepsKept; ++first) {
    const double statistic = mser_statistic(step_times.subspan(static_cast<std::size_t>(first)));
    if (statistic >= smallest) continue;
    smallest = statistic;
    best = first;
    end.reached = true;
  }
  if (best * 2 > num_steps) end.reached = false;
  if (end.reached) end.first_steady_step = best;
  return end;
}

}  // namespace rematch::stats
