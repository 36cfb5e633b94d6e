#include "orchestrator/rules/throughput.h"

#include <numeric>
#include <vector>

namespace rematch::rules {

std::optional<double> mean(std::span<const double> samples) {
  if (samples.empty()) return std::nullopt;
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

std::optional<double> tflops_per_rank(const base::AttemptRows& attempt, std::optional<double> step_time_ns) {
  if (attempt.ranks.empty() || !attempt.ranks.front().model || !step_time_ns || *step_time_ns <= 0) return std::nullopt;
  const double flops_per_second = attempt.ranks.front().model->flops_per_step / (*step_time_ns * 1e-9);
  return flops_per_second / static_cast<double>(attempt.trial.parallel.world_size) * 1e-12;
}

std::optional<double> mean_tflops_per_rank(const base::AttemptRows& attempt, std::span<const double> step_times_ns) {
  std::vector<double> by_step;
  for (const double time : step_times_ns)
    if (const auto tflops = tflops_per_rank(attempt, time)) by_step.push_back(*tflops);
  return mean(by_step);
}

}  // namespace rematch::rules
