#include "orchestrator/rules/last_common_step.h"

#include <algorithm>

#include "orchestrator/rules/steady_steps.h"
#include "orchestrator/stats/ratio.h"

namespace rematch::rules {

namespace {

std::int64_t peak_after_step(const base::AttemptRows& attempt, std::int64_t step) {
  std::int64_t peak = 0;
  for (const base::RankRows& rank : attempt.ranks)
    peak = std::max(peak, rank.steps[static_cast<std::size_t>(step)].lifetime_peak_allocated_bytes);
  return peak;
}

}  // namespace

base::FailedComparison compare_at_last_common_step(const base::AttemptRows& attempt, const base::AttemptRows& control) {
  base::FailedComparison comparison;
  const std::int64_t num_common = std::min(num_steps_completed(attempt), num_steps_completed(control));
  if (num_common == 0) return comparison;
  comparison.step = num_common - 1;
  const std::int64_t peak = peak_after_step(attempt, *comparison.step);
  const std::int64_t control_peak = peak_after_step(control, *comparison.step);
  comparison.peak_delta_bytes = peak - control_peak;
  comparison.peak_delta_fraction = stats::difference_fraction(static_cast<double>(peak), static_cast<double>(control_peak));
  return comparison;
}

}  // namespace rematch::rules
