#include "orchestrator/report/pareto_plot.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "orchestrator/report/arm_groups.h"
#include "orchestrator/report/plot_words.h"
#include "orchestrator/rules/judge_arm.h"

namespace rematch::report {

namespace {

using base::ArmVerdict;

struct Point {
  std::int64_t peak_bytes = 0;
  double time_ns = 0;

  auto operator<=>(const Point&) const = default;
};

// Of an arm or of a run. nullopt: it has no time to be set against.
template <typename Figures>
std::optional<Point> point_of(const Figures& figures) {
  const std::optional<double> time_ns = figures.estimate ? std::optional(figures.estimate->time_ns) : figures.median_step_time_ns;
  return time_ns ? std::optional(Point{figures.hot.allocated_bytes, *time_ns}) : std::nullopt;
}

std::vector<Point> points_of_runs(const base::StudyRows& study, const base::StudyVerdict& verdict, const ArmVerdict& arm) {
  std::vector<Point> points;
  for (const std::size_t index : rules::passing_attempts(study, verdict.runs, arm.arm))
    if (const std::optional<Point> point = point_of(*verdict.runs[index].figures)) points.push_back(*point);
  return points;
}

constexpr std::int64_t kMostRunsOfArm = 60;

bool has_more_runs_than_drawn(const ArmVerdict& arm) { return arm.figures && arm.figures->num_runs > kMostRunsOfArm; }

// Evenly over the runs, and whatever is extreme in peak or time.
std::vector<Point> thinned(const std::vector<Point>& points) {
  constexpr auto kMost = static_cast<std::size_t>(kMostRunsOfArm);
  if (points.size() <= kMost) return points;
  const auto by_peak = std::minmax_element(points.begin(), points.end());
  const auto by_time =
      std::minmax_element(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.time_ns < b.time_ns; });
  std::set<std::size_t> kept;
  for (const auto extreme : {by_peak.first, by_peak.second, by_time.first, by_time.second})
    kept.insert(static_cast<std::size_t>(extreme - points.begin()));
  const std::size_t num_even = kMost - kept.size();
  for (std::size_t i = 0; i < num_even; ++i) kept.insert(i * points.size() / num_even);
  std::vector<Point> some;
  for (const std::size_t index : kept) some.push_back(points[index]);
  return some;
}

void add_point(const Point& point, PlotSeries& series) {
  series.x.push_back(static_cast<double>(point.peak_bytes));
  series.y.emplace_back(point.time_ns);
}

std::optional<PlotSeries> series_of(const base::StudyRows& study, const base::StudyVerdict& verdict, const ArmVerdict& arm) {
  const std::optional<Point> own = arm.figures ? point_of(*arm.figures) : std::nullopt;
  if (!own) return std::nullopt;
  PlotSeries series;
  series.name = arm_label(arm);
  series.is_emphasised = arm.is_pareto;
  add_point(*own, series);
  if (arm.figures->num_runs > 1)
    for (const Point& point : thinned(points_of_runs(study, verdict, arm))) add_point(point, series);
  return series;
}

std::string caption_of(const ArmGroup& part, const std::vector<PlotSeries>& series) {
  const auto any = [&](auto holds) { return std::any_of(series.begin(), series.end(), holds); };
  std::string text = "Further left takes less memory, further down less time. ";
  if (any([](const PlotSeries& each) { return each.is_emphasised; }))
    text += "Marked arms are the Pareto set: no other is at most as high in both and lower in one. ";
  if (any([](const PlotSeries& each) { return each.x.size() > 1; })) text += "Faint points are single runs";
  if (std::any_of(part.arms.begin(), part.arms.end(), [](const ArmVerdict* arm) { return has_more_runs_than_drawn(*arm); }))
    text += ", of an arm at most " + std::to_string(kMostRunsOfArm) + " with its extremes among them";
  if (text.back() != ' ') text += ". ";
  return text + provenance_sentence(part.provenance);
}

}  // namespace

std::vector<Plot> pareto_plots(const base::StudyRows& study, const base::StudyVerdict& verdict) {
  std::vector<Plot> plots;
  for (const ArmGroup& part : arm_groups(verdict)) {
    const std::string time = part.provenance == protocol::Provenance::kPredicted ? "estimated step time" : "step time";
    Plot plot;
    plot.key = "pareto";
    plot.title = title_of("Peak allocated against " + time, *part.group);
    plot.kind = PlotKind::kPoints;
    plot.x = {"peak allocated of the hot rank", PlotUnit::kBytes};
    plot.y = {time, PlotUnit::kNanoseconds};
    for (const ArmVerdict* arm : part.arms)
      if (std::optional<PlotSeries> series = series_of(study, verdict, *arm)) plot.series.push_back(*std::move(series));
    if (plot.series.empty()) continue;
    if (study.plan.budget_per_rank_bytes) plot.marks = {{static_cast<double>(*study.plan.budget_per_rank_bytes), "budget per rank"}};
    plot.caption = caption_of(part, plot.series);
    plots.push_back(std::move(plot));
  }
  return plots;
}

}  // namespace rematch::report
