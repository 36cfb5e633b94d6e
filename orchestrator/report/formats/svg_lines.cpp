// Lines of runs over steps. A value above the edge of the axis is left out, and the line leaves and comes back at that edge.
#include <cmath>

#include "orchestrator/report/formats/svg_frame.h"
#include "orchestrator/report/formats/svg_kinds.h"
#include "orchestrator/report/formats/svg_legend.h"

namespace rematch::report {

namespace {

constexpr double kMargin = 0.06;

// One line under a ceiling, in coordinates of the picture, where up is less.
class ClippedLine {
 public:
  explicit ClippedLine(const Frame& frame) : frame_(frame) {}

  void add(double x, double y) {
    const int to_x = frame_.x.at(x);
    const int to_y = frame_.y.at(y);
    const bool is_below = to_y >= frame_.area.top;
    if (is_drawing_ && (is_below || was_below_)) segment(to_x, to_y, is_below);
    if (!is_drawing_ && is_below) path_.move_to(to_x, to_y);
    is_drawing_ = true;
    was_below_ = is_below;
    x_ = to_x;
    y_ = to_y;
  }
  void end() { is_drawing_ = false; }
  const SvgPath& path() const { return path_; }

 private:
  void segment(int to_x, int to_y, bool is_below) {
    if (!was_below_) path_.move_to(crossing(to_x, to_y), frame_.area.top);
    if (is_below)
      path_.line_to(to_x, to_y);
    else
      path_.line_to(crossing(to_x, to_y), frame_.area.top);
  }
  int crossing(int to_x, int to_y) const {
    const double part = static_cast<double>(frame_.area.top - y_) / (to_y - y_);
    return x_ + static_cast<int>(std::lround(part * (to_x - x_)));
  }

  const Frame& frame_;
  SvgPath path_;
  bool is_drawing_ = false;
  bool was_below_ = false;
  int x_ = 0;
  int y_ = 0;
};

AxisTicks y_ticks(const Plot& plot, ByteUnits units) {
  Interval shown = with_margin(interval_of_y(plot), kMargin);
  if (!plot.y.up_to) return make_ticks(shown, plot.y.unit, units, AxisEnds::kRounded, 5);
  shown.high = *plot.y.up_to;
  if (shown.low >= shown.high) shown.low = 0;
  return make_ticks(shown, plot.y.unit, units, AxisEnds::kKept, 5);
}

}  // namespace

int draw_lines(const Plot& plot, ByteUnits units, SvgCanvas& canvas) {
  const Interval x = with_near_marks(interval_of_x(plot), plot.marks);
  const Frame frame = draw_frame(plot, {make_ticks(x, plot.x.unit, units, AxisEnds::kKept, 6), y_ticks(plot, units)}, canvas);
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const PlotSeries& series = plot.series[i];
    ClippedLine line(frame);
    for (std::size_t k = 0; k < series.x.size(); ++k) {
      if (series.y[k])
        line.add(series.x[k], *series.y[k]);
      else
        line.end();
    }
    canvas.path(line.path(), (series.is_emphasised ? "l m " : "l ") + series_class(i), series_dashes(i), series.name);
  }
  return draw_legend(legend_of(plot, Swatch::kLine), frame.end, canvas);
}

}  // namespace rematch::report
