// Points of arms: the Pareto set filled, named, and joined by the steps beyond which no arm is; single runs small.
#include <algorithm>
#include <array>
#include <utility>

#include "orchestrator/report/formats/svg_frame.h"
#include "orchestrator/report/formats/svg_kinds.h"
#include "orchestrator/report/formats/svg_legend.h"

namespace rematch::report {

namespace {

constexpr int kRadius = 9;
constexpr double kMargin = 0.06;  // so that no point lies on the frame

struct Point {
  int x = 0;
  int y = 0;
  const PlotSeries* series = nullptr;
  std::string tooltip;
};

bool has_figures(const PlotSeries& series) { return !series.x.empty() && !series.y.empty() && series.y.front(); }

// The arms' own figures, those of the Pareto set last, so that nothing hides them.
std::vector<Point> arm_points(const Plot& plot, ByteUnits units, const Frame& frame) {
  std::vector<Point> points;
  for (const PlotSeries& series : plot.series)
    if (has_figures(series))
      points.push_back({frame.x.at(series.x.front()), frame.y.at(*series.y.front()), &series,
                        series.name + ": " + value_text(series.x.front(), plot.x.unit, units) + ", " +
                            value_text(*series.y.front(), plot.y.unit, units)});
  std::stable_partition(points.begin(), points.end(), [](const Point& point) { return !point.series->is_emphasised; });
  return points;
}

bool draw_runs(const Plot& plot, const Frame& frame, SvgCanvas& canvas) {
  bool any = false;
  for (const PlotSeries& series : plot.series)
    for (std::size_t i = 1; i < series.x.size(); ++i)
      if (series.y[i]) {
        canvas.circle(frame.x.at(series.x[i]), frame.y.at(*series.y[i]), 4, "i");
        any = true;
      }
  return any;
}

void draw_front(const std::vector<Point>& points, SvgCanvas& canvas) {
  std::vector<std::pair<int, int>> front;
  for (const Point& point : points)
    if (point.series->is_emphasised) front.emplace_back(point.x, point.y);
  if (front.size() < 2) return;
  std::sort(front.begin(), front.end());
  SvgPath path;
  path.move_to(front.front().first, front.front().second);
  for (std::size_t i = 1; i < front.size(); ++i) {
    path.line_to(front[i].first, front[i - 1].second);
    path.line_to(front[i].first, front[i].second);
    canvas.keep_free({front[i - 1].first, front[i - 1].second - 1, front[i].first, front[i - 1].second + 1});
    canvas.keep_free({front[i].first - 1, std::min(front[i].second, front[i - 1].second), front[i].first + 1,
                      std::max(front[i].second, front[i - 1].second)});
  }
  canvas.path(path, "w");
}

// Where there is room; the others' names show under the mouse and stand in the table.
void draw_names(const std::vector<Point>& points, const Frame& frame, SvgCanvas& canvas) {
  struct Place {
    int dx;
    int dy;
    Anchor anchor;
  };
  static constexpr std::array<Place, 6> kPlaces = {{{16, 9, Anchor::kStart},
                                                    {-16, 9, Anchor::kEnd},
                                                    {0, -20, Anchor::kMiddle},
                                                    {0, 40, Anchor::kMiddle},
                                                    {12, -16, Anchor::kStart},
                                                    {-12, 36, Anchor::kEnd}}};
  for (auto point = points.rbegin(); point != points.rend(); ++point)
    for (const Place& place : kPlaces)
      if (canvas.text_if_free(point->x + place.dx, point->y + place.dy, place.anchor, point->series->name, frame.area,
                              point->series->is_emphasised ? "n" : "t"))
        break;
}

std::vector<LegendEntry> legend(const std::vector<Point>& points, bool has_runs) {
  const auto num_front = std::count_if(points.begin(), points.end(), [](const Point& point) { return point.series->is_emphasised; });
  std::vector<LegendEntry> entries;
  if (num_front > 0) entries.push_back({Swatch::kFilledPoint, 0, "in the Pareto set"});
  if (static_cast<std::size_t>(num_front) < points.size()) entries.push_back({Swatch::kHollowPoint, 0, "not in it"});
  if (num_front > 1) entries.push_back({Swatch::kFront, 0, "Pareto front"});
  if (has_runs) entries.push_back({Swatch::kFaintPoint, 0, "single run"});
  return entries;
}

}  // namespace

int draw_points(const Plot& plot, ByteUnits units, SvgCanvas& canvas) {
  const Interval x = with_near_marks(with_margin(interval_of_x(plot), kMargin), plot.marks);
  const Interval y = with_margin(interval_of_y(plot), kMargin);
  const Frame frame = draw_frame(
      plot, {make_ticks(x, plot.x.unit, units, AxisEnds::kRounded, 5), make_ticks(y, plot.y.unit, units, AxisEnds::kRounded, 5)}, canvas);
  const std::vector<Point> points = arm_points(plot, units, frame);
  draw_front(points, canvas);
  const bool has_runs = draw_runs(plot, frame, canvas);
  for (const Point& point : points) {
    canvas.circle(point.x, point.y, kRadius, point.series->is_emphasised ? "p" : "o", point.tooltip);
    canvas.keep_free({point.x - kRadius, point.y - kRadius, point.x + kRadius, point.y + kRadius});
  }
  draw_names(points, frame, canvas);
  return draw_legend(legend(points, has_runs), frame.end, canvas);
}

}  // namespace rematch::report
