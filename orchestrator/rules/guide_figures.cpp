#include "orchestrator/rules/guide_figures.h"

#include <algorithm>
#include <vector>

#include "orchestrator/base/predicted.h"
#include "orchestrator/rules/compare_published.h"
#include "orchestrator/rules/judge_runs.h"
#include "orchestrator/rules/published_peak.h"
#include "orchestrator/rules/steady_steps.h"
#include "orchestrator/rules/throughput.h"
#include "orchestrator/stats/median.h"
#include "orchestrator/stats/ratio.h"

namespace rematch::rules {

namespace {

std::optional<std::int64_t> peak_bytes(const base::AttemptRows& attempt, const std::string& ranks, std::int64_t after_iteration) {
  const std::optional<base::RankPeak> peak = seen_peak(attempt, ranks, after_iteration);
  return peak ? std::optional(peak->allocated_bytes) : std::nullopt;
}

void append(const std::optional<double>& sample, std::vector<double>& samples) {
  if (sample) samples.push_back(*sample);
}

}  // namespace

WindowFigures window_figures(const base::AttemptRows& attempt, StepWindow window, std::span<const double> step_times_ns) {
  if (step_times_ns.size() < window.end) return {};
  const std::span<const double> times = step_times_ns.subspan(window.begin, window.end - window.begin);
  return {mean(times), mean_tflops_per_rank(attempt, times)};
}

GuideFigures guide_figures(const base::StudyRows& study, const base::StudyVerdict& verdict, const std::string& arm, const GuideView& view) {
  GuideFigures figures;
  std::vector<double> times;
  std::vector<double> rates;
  for (const std::size_t index : judged_attempts(study, arm)) {
    if (verdict.runs[index].outcome != base::Outcome::kPass) continue;
    const base::AttemptRows& attempt = study.attempts[index];
    if (const auto peak = peak_bytes(attempt, view.ranks, kGuidePeakIteration))
      figures.peak_allocated_bytes = std::max(figures.peak_allocated_bytes.value_or(0), *peak);
    if (base::is_predicted(attempt.trial)) continue;  // its times are nobody's
    const WindowFigures window = window_figures(attempt, view.window, step_times_ns(attempt));
    append(window.step_time_ns, times);
    append(window.tflops_per_rank, rates);
  }
  figures.window = {stats::median(times), stats::median(rates)};
  return figures;
}

std::optional<GuideFailure> guide_failure(const base::StudyRows& study, const std::string& arm, const std::string& control) {
  const base::AttemptRows* own = compared_attempt(study, arm);
  if (own == nullptr) return std::nullopt;
  const base::AttemptRows* other = compared_attempt(study, control);
  GuideFailure failure;
  failure.num_iterations = num_steps_completed(*own);
  const std::int64_t num_common = other == nullptr ? 0 : std::min(failure.num_iterations, num_steps_completed(*other));
  if (num_common == 0) return failure;
  failure.after_iteration = num_common;
  failure.peak_allocated_bytes = peak_bytes(*own, "rank 0", num_common);
  const std::optional<std::int64_t> against = own == other ? std::nullopt : peak_bytes(*other, "rank 0", num_common);
  if (!failure.peak_allocated_bytes || !against) return failure;
  failure.peak_delta_bytes = *failure.peak_allocated_bytes - *against;
  failure.peak_delta_fraction =
      stats::difference_fraction(static_cast<double>(*failure.peak_allocated_bytes), static_cast<double>(*against));
  return failure;
}

}  // namespace rematch::rules
