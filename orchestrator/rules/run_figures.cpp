#include "orchestrator/rules/run_figures.h"

#include <algorithm>
#include <span>
#include <vector>

#include "orchestrator/base/predicted.h"
#include "orchestrator/rules/estimate.h"
#include "orchestrator/rules/guide_figures.h"
#include "orchestrator/rules/rank_peak.h"
#include "orchestrator/rules/steady_steps.h"
#include "orchestrator/rules/throughput.h"
#include "orchestrator/stats/median.h"
#include "orchestrator/stats/warmup.h"

namespace rematch::rules {

namespace {

std::optional<std::int64_t> held_after_forward_bytes(const base::AttemptRows& attempt) {
  std::optional<std::int64_t> held;
  for (const base::RankRows& rank : attempt.ranks)
    for (const protocol::StepRecord& step : rank.steps) held = std::max(held.value_or(0), step.forward_end_allocated_bytes);
  return held;
}

base::MeanTimes mean_times(const base::AttemptRows& attempt, std::span<const double> all, std::span<const double> steady) {
  base::MeanTimes means;
  means.mean_step_time_ns = mean(steady);
  means.window_step_time_ns = window_figures(attempt, kGuideWindow, all).step_time_ns;
  means.tflops_of_mean_time = tflops_per_rank(attempt, means.mean_step_time_ns);
  means.tflops_mean_over_steps = mean_tflops_per_rank(attempt, steady);
  return means;
}

void take_plateau(const base::AttemptRows& attempt, base::RunFigures& figures) {
  std::optional<std::int64_t> least_room;
  for (const base::RankRows& rank : attempt.ranks) {
    const stats::Plateau plateau = plateau_of(rank);
    const std::int64_t room = plateau.allowed_bytes - plateau.growth_bytes;
    if (least_room && room >= *least_room) continue;
    least_room = room;
    figures.peak_growth_bytes = plateau.growth_bytes;
    figures.peak_growth_allowed_bytes = plateau.allowed_bytes;
  }
}

void take_times(const base::AttemptRows& attempt, base::RunFigures& figures) {
  const std::vector<double> times = step_times_ns(attempt);
  const stats::WarmupEnd warmup = stats::find_warmup_end(times, first_step_after_warmup(attempt));
  figures.first_steady_step = warmup.first_steady_step;
  figures.warmup_reached = warmup.reached;
  const auto num_dropped = static_cast<std::size_t>(std::min(warmup.first_steady_step, figures.num_steps_completed));
  const std::span<const double> steady = std::span(times).subspan(num_dropped);
  figures.median_step_time_ns = stats::median({steady.begin(), steady.end()});
  figures.tflops_per_rank = tflops_per_rank(attempt, figures.median_step_time_ns);
  figures.means = mean_times(attempt, times, steady);
}

}  // namespace

base::RunFigures run_figures(const base::AttemptRows& attempt) {
  base::RunFigures figures;
  figures.hot = hot_rank(peaks_of_ranks(attempt)).value_or(base::RankPeak{});
  figures.activation_peak_bytes = activation_peak_bytes(attempt);
  figures.held_after_forward_bytes = held_after_forward_bytes(attempt);
  figures.num_steps_completed = num_steps_completed(attempt);
  take_plateau(attempt, figures);
  if (base::is_predicted(attempt.trial))
    figures.estimate = estimate_step(attempt);
  else
    take_times(attempt, figures);
  return figures;
}

}  // namespace rematch::rules
