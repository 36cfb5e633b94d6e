#include "orchestrator/report/step_times_plot.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "orchestrator/report/arm_groups.h"
#include "orchestrator/report/cell_text.h"
#include "orchestrator/report/plot_words.h"
#include "orchestrator/report/thin_line.h"
#include "orchestrator/rules/judge_arm.h"
#include "orchestrator/rules/steady_steps.h"

namespace rematch::report {

namespace {

// Of a plot: enough for its width.
constexpr std::size_t kMostPoints = 600;
constexpr std::size_t kMostLines = 24;  // one a run; more runs are one line
constexpr std::size_t kMostBlockMarks = 12;

constexpr double kLeastRange = 0.05;  // of the slowest steady step: steady steps that hardly differ may look so

struct RunSteps {
  std::int64_t block = 0;
  std::int64_t slot = 0;
  std::int64_t first_steady_step = 0;
  std::vector<LinePoint> steps;  // x counts on over all runs of the arm
};

std::vector<RunSteps> runs_of(const base::StudyRows& study, const base::StudyVerdict& verdict, const base::ArmVerdict& arm) {
  std::vector<RunSteps> runs;
  double x = 0;
  for (const std::size_t index : rules::passing_attempts(study, verdict.runs, arm.arm)) {
    const base::RunVerdict& run = verdict.runs[index];
    RunSteps steps{run.block, run.slot, run.figures->first_steady_step, {}};
    for (const double time_ns : rules::step_times_ns(study.attempts[index])) steps.steps.push_back({x++, time_ns});
    if (!steps.steps.empty()) runs.push_back(std::move(steps));
  }
  return runs;
}

std::size_t num_steps_of(const std::vector<RunSteps>& runs) {
  std::size_t num_steps = 0;
  for (const RunSteps& run : runs) num_steps += run.steps.size();
  return num_steps;
}

PlotSeries line_of(std::string name, std::span<const LinePoint> steps, std::size_t num_steps_of_all) {
  const std::size_t num_buckets =
      num_steps_of_all <= kMostPoints ? steps.size() : std::max<std::size_t>(1, kMostPoints / 2 * steps.size() / num_steps_of_all);
  PlotSeries line;
  line.name = std::move(name);
  for (const LinePoint& point : thinned(steps, num_buckets)) {
    line.x.push_back(point.x);
    line.y.emplace_back(point.y);
  }
  return line;
}

std::vector<PlotSeries> lines_of(const std::vector<RunSteps>& runs) {
  const std::size_t num_steps = num_steps_of(runs);
  std::vector<PlotSeries> lines;
  if (runs.size() <= kMostLines) {
    for (const RunSteps& run : runs)
      lines.push_back(line_of("block " + std::to_string(run.block) + ", slot " + std::to_string(run.slot), run.steps, num_steps));
    return lines;
  }
  std::vector<LinePoint> all;
  for (const RunSteps& run : runs) all.insert(all.end(), run.steps.begin(), run.steps.end());
  lines.push_back(line_of(std::to_string(runs.size()) + " runs", all, num_steps));
  return lines;
}

std::vector<PlotMark> block_marks(const std::vector<RunSteps>& runs) {
  std::vector<PlotMark> begins;
  std::optional<std::int64_t> block;
  for (const RunSteps& run : runs) {
    if (block != run.block) begins.push_back({run.steps.front().x, "block " + std::to_string(run.block)});
    block = run.block;
  }
  std::vector<PlotMark> some;
  const std::size_t stride = (begins.size() + kMostBlockMarks - 1) / kMostBlockMarks;
  for (std::size_t i = 0; i < begins.size(); i += stride) some.push_back(begins[i]);
  return some;
}

bool has_steady_step(const RunSteps& run) { return run.first_steady_step < static_cast<std::int64_t>(run.steps.size()); }

std::vector<PlotMark> marks_of(const std::vector<RunSteps>& runs) {
  std::vector<PlotMark> marks = block_marks(runs);
  if (runs.size() > kMostLines) return marks;
  const auto num_blocks = marks.size();
  for (const RunSteps& run : runs)
    if (has_steady_step(run))
      marks.push_back({run.steps[static_cast<std::size_t>(run.first_steady_step)].x, marks.size() == num_blocks ? "warm-up ends" : ""});
  return marks;
}

// Times of steps, over all runs.
struct Extent {
  std::optional<double> fastest_steady_ns;
  double slowest_steady_ns = 0;
  double slowest_warmup_ns = 0;
};

Extent extent_of(const std::vector<RunSteps>& runs) {
  Extent extent;
  for (const RunSteps& run : runs)
    for (std::size_t i = 0; i < run.steps.size(); ++i) {
      const double time_ns = run.steps[i].y;
      const bool is_steady = static_cast<std::int64_t>(i) >= run.first_steady_step;
      double& slowest = is_steady ? extent.slowest_steady_ns : extent.slowest_warmup_ns;
      slowest = std::max(slowest, time_ns);
      if (is_steady) extent.fastest_steady_ns = std::min(extent.fastest_steady_ns.value_or(time_ns), time_ns);
    }
  return extent;
}

// Where warm-up leaves the plot, lest it press the steady steps flat. nullopt: it does not.
std::optional<double> top_of(const Extent& extent) {
  if (!extent.fastest_steady_ns) return std::nullopt;
  const double range = std::max(extent.slowest_steady_ns - *extent.fastest_steady_ns, kLeastRange * extent.slowest_steady_ns);
  if (extent.slowest_warmup_ns <= extent.slowest_steady_ns + 2 * range) return std::nullopt;
  return extent.slowest_steady_ns + range / 2;
}

// "step 3", "steps 3 to 5".
std::string warmup_text(const std::vector<RunSteps>& runs) {
  const auto [first, last] = std::minmax_element(
      runs.begin(), runs.end(), [](const RunSteps& a, const RunSteps& b) { return a.first_steady_step < b.first_steady_step; });
  const std::string from = std::to_string(first->first_steady_step);
  return first->first_steady_step == last->first_steady_step ? "step " + from
                                                             : "steps " + from + " to " + std::to_string(last->first_steady_step);
}

std::string caption_of(const ArmGroup& part, const std::vector<RunSteps>& runs) {
  std::string text = "Passing runs one after another in their order; a step lasts as long as on its slowest rank. ";
  text += "Warm-up of a run ends at its " + warmup_text(runs) + ", counted from 0. ";
  if (const Extent extent = extent_of(runs); top_of(extent))
    text += "Warm-up leaves the plot at its top: its slowest step took " +
            display_text(Nanoseconds{extent.slowest_warmup_ns}, ByteUnits::kGB) + ". ";
  if (const std::size_t num_steps = num_steps_of(runs); num_steps > kMostPoints)
    text += "Of " + std::to_string(num_steps) + " steps the fastest and the slowest of each some " +
            std::to_string(num_steps / (kMostPoints / 2)) + " in a row are drawn. ";
  return text + provenance_sentence(part.provenance);
}

std::optional<Plot> plot_of(const base::StudyRows& study, const base::StudyVerdict& verdict, const ArmGroup& part,
                            const base::ArmVerdict& arm) {
  if (!arm.figures || !arm.figures->median_step_time_ns) return std::nullopt;
  const std::vector<RunSteps> runs = runs_of(study, verdict, arm);
  if (runs.empty()) return std::nullopt;
  Plot plot;
  plot.key = "step_times";
  plot.title = title_of("Step times: " + arm_label(arm), *part.group);
  plot.caption = caption_of(part, runs);
  plot.kind = PlotKind::kLines;
  plot.x = {"steps of all runs", PlotUnit::kStep};
  plot.y = {"step time", PlotUnit::kNanoseconds};
  plot.y.up_to = top_of(extent_of(runs));
  plot.series = lines_of(runs);
  plot.marks = marks_of(runs);
  return plot;
}

}  // namespace

std::vector<Plot> step_times_plots(const base::StudyRows& study, const base::StudyVerdict& verdict) {
  return of_arms(verdict, [&](const ArmGroup& part, const base::ArmVerdict& arm) { return plot_of(study, verdict, part, arm); });
}

}  // namespace rematch::report
