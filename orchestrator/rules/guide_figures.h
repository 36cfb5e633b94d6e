// Rule: the figures of arms as the recompute guide's tables take them, so that a row can be set beside a published one. They are views of
// what ranks recorded and decide nothing. reports/METRICS.md, "The guide's own tables". Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

// Steps by 0-based index, the end not included; people read iterations, which count from 1.
struct StepWindow {
  std::size_t begin = 0;
  std::size_t end = 0;
};
inline constexpr StepWindow kGuideWindow = {10, 20};      // iterations 11 to 20
inline constexpr StepWindow kShortGuideWindow = {6, 12};  // iterations 7 to 12: of the guide's runs of 12 steps
inline constexpr std::int64_t kGuidePeakIteration = 2;    // the last after which the source prints a peak
inline constexpr const char* kGuideRanks = "data-parallel rank 0";

struct WindowFigures {
  std::optional<double> step_time_ns;     // mean
  std::optional<double> tflops_per_rank;  // mean of the steps' own values
};
// Nothing of a run with fewer steps. `step_times_ns` are all of the run's.
WindowFigures window_figures(const base::AttemptRows& attempt, StepWindow window, std::span<const double> step_times_ns);

// Of an arm's runs that passed: the largest peak, the medians over runs of the others.
struct GuideFigures {
  std::optional<std::int64_t> peak_allocated_bytes;
  WindowFigures window;
};
struct GuideView {
  std::string ranks;  // of the peak: "rank 0", "data-parallel rank 0"
  StepWindow window;
};
GuideFigures guide_figures(const base::StudyRows& study, const base::StudyVerdict& verdict, const std::string& arm, const GuideView& view);

// A failed arm, in its first run that counts: how far it got, and rank 0's peak where it may be set against the control's.
struct GuideFailure {
  std::int64_t num_iterations = 0;  // completed
  std::optional<std::int64_t>
      after_iteration;  // the last that the control completed too; of the control its own last. Null: not comparable
  std::optional<std::int64_t> peak_allocated_bytes;  // of rank 0, after it
  std::optional<std::int64_t> peak_delta_bytes;      // to the control's after the same iteration
  std::optional<double> peak_delta_fraction;
};
// nullopt: no run of it counts.
std::optional<GuideFailure> guide_failure(const base::StudyRows& study, const std::string& arm, const std::string& control);

}  // namespace rematch::rules
