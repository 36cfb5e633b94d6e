#include "orchestrator/rules/run_figures.h"

#include <algorithm>

#include "orchestrator/base/predicted.h"
#include "orchestrator/rules/estimate.h"
#include "orchestrator/rules/rank_peak.h"
#include "orchestrator/rules/steady_steps.h"
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

std::optional<double> tflops_per_rank(const base::AttemptRows& attempt, std::optional<double> step_time_ns) {
  if (attempt.ranks.empty() || !attempt.ranks.front().model || !step_time_ns || *step_time_ns <= 0) return std::nullopt;
  const double flops_per_second = attempt.ranks.front().model->flops_per_step / (*step_time_ns * 1e-9);
  return flops_per_second / static_cast<double>(attempt.trial.parallel.world_size) * 1e-12;
}

void take_times(const base::AttemptRows& attempt, base::RunFigures& figures) {
  std::vector<double> times = step_times_ns(attempt);
  const stats::WarmupEnd warmup = stats::find_warmup_end(times, first_step_after_warmup(attempt));
  figures.first_steady_step = warmup.first_steady_step;
  figures.warmup_reached = warmup.reached;
  if (warmup.first_steady_step < figures.num_steps_completed)
    times.erase(times.begin(), times.begin() + warmup.first_steady_step);
  else
    times.clear();
  figures.median_step_time_ns = stats::median(times);
  figures.tflops_per_rank = tflops_per_rank(attempt, figures.median_step_time_ns);
}

}  // namespace

base::RunFigures run_figures(const base::AttemptRows& attempt) {
  base::RunFigures figures;
  figures.hot = hot_rank(peaks_of_ranks(attempt)).value_or(base::RankPeak{});
  figures.activation_peak_bytes = activation_peak_bytes(attempt);
  figures.held_after_forward_bytes = held_after_forward_bytes(attempt);
  figures.num_steps_completed = num_steps_completed(attempt);
  if (base::is_predicted(attempt.trial))
    figures.estimate = estimate_step(attempt);
  else
    take_times(attempt, figures);
  return figures;
}

}  // namespace rematch::rules
