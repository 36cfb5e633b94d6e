#include "orchestrator/report/formats/svg_frame.h"

#include <algorithm>
#include <limits>

namespace rematch::report {

namespace {

constexpr int kAreaHeight = 380;
constexpr int kTickGap = 12;
constexpr int kMaxMarkRows = 3;
constexpr double kNear = 0.5;  // of the length of the values: a mark so far beyond them is shown still

class Extent {
 public:
  void add(double value) {
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  Interval interval() const { return low_ > high_ ? Interval{0, 1} : Interval{low_, high_}; }

 private:
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

int widest(const std::vector<Tick>& ticks) {
  int width = 0;
  for (const Tick& tick : ticks) width = std::max(width, text_width(tick.text));
  return width;
}

SvgPath line(int x0, int y0, int x1, int y1) {
  SvgPath path;
  path.move_to(x0, y0);
  path.line_to(x1, y1);
  return path;
}

bool is_shown(const PlotMark& mark, const Interval& domain) { return mark.at >= domain.low && mark.at <= domain.high; }

// A mark beyond the right end is told there, without a line.
std::string mark_text(const PlotMark& mark, const Interval& domain) {
  return mark.at > domain.high ? mark.label + " \xe2\x86\x92" : mark.at < domain.low ? "\xe2\x86\x90 " + mark.label : mark.label;
}

// Puts it in the first row that has room beside it. Returns the row; none: the line stands without words.
int draw_mark_label(const std::string& text, int x, const Frame& frame, int num_rows, SvgCanvas& canvas) {
  const Box rows = {frame.area.left - kSvgLine, frame.area.top - num_rows * kSvgLine - kSvgText, kSvgWidth, frame.area.top};
  for (int row = 0; row < num_rows; ++row) {
    const int base = frame.area.top - kSvgLine * row - 10;
    if (canvas.text_if_free(x, base, Anchor::kMiddle, text, rows)) return row;
    if (canvas.text_if_free(x + 6, base, Anchor::kStart, text, rows)) return row;
    if (canvas.text_if_free(x - 6, base, Anchor::kEnd, text, rows)) return row;
  }
  return -1;
}

void draw_marks(const Plot& plot, const Frame& frame, int num_rows, SvgCanvas& canvas) {
  for (const PlotMark& mark : plot.marks) {
    const int x = std::clamp(frame.x.at(std::clamp(mark.at, frame.x.domain.low, frame.x.domain.high)), frame.area.left, frame.area.right);
    const int row = mark.label.empty() ? -1 : draw_mark_label(mark_text(mark, frame.x.domain), x, frame, num_rows, canvas);
    if (is_shown(mark, frame.x.domain))
      canvas.path(line(x, frame.area.top - std::max(row, 0) * kSvgLine, x, frame.area.bottom), "k", "", mark.label);
  }
}

int num_mark_rows(const Plot& plot) {
  const auto labelled = std::count_if(plot.marks.begin(), plot.marks.end(), [](const PlotMark& mark) { return !mark.label.empty(); });
  return static_cast<int>(std::min<std::ptrdiff_t>(labelled, kMaxMarkRows));
}

void draw_y_axis(const Plot& plot, const AxisTicks& ticks, const Frame& frame, SvgCanvas& canvas) {
  canvas.text(0, kSvgText, Anchor::kStart, fitted(axis_text(plot.y, ticks), kSvgWidth), "t");
  SvgPath grid;
  for (const Tick& tick : ticks.ticks) {
    const int y = frame.y.at(tick.at);
    grid.move_to(frame.area.left, y);
    grid.line_to(frame.area.right, y);
    canvas.text(frame.area.left - kTickGap, y + 9, Anchor::kEnd, tick.text, "t");
  }
  canvas.path(grid, "g");
}

void draw_x_axis(const Plot& plot, const FrameAxes& axes, const Frame& frame, SvgCanvas& canvas) {
  canvas.path(line(frame.area.left, frame.area.bottom, frame.area.right, frame.area.bottom), "a");
  const double shift = axes.x_place == TickPlace::kAfterHalf ? 0.5 : 0;
  const Box row = {0, frame.area.bottom, kSvgWidth, frame.area.bottom + kSvgLine + kTickGap};
  for (const Tick& tick : axes.x.ticks)
    if (tick.at + shift <= frame.x.domain.high)
      canvas.text_if_free(frame.x.at(tick.at + shift), frame.area.bottom + kSvgLine, Anchor::kMiddle, tick.text, row, "t");
  canvas.text((frame.area.left + frame.area.right) / 2, frame.area.bottom + 2 * kSvgLine + 4, Anchor::kMiddle,
              fitted(axis_text(plot.x, axes.x), frame.area.right - frame.area.left), "t");
}

}  // namespace

Interval interval_of_x(const Plot& plot) {
  Extent extent;
  for (const PlotSeries& series : plot.series)
    for (const double x : series.x) extent.add(x);
  return extent.interval();
}

Interval interval_of_y(const Plot& plot) {
  Extent extent;
  for (const PlotSeries& series : plot.series)
    for (const std::optional<double>& y : series.y)
      if (y) extent.add(*y);
  return extent.interval();
}

Interval with_near_marks(Interval shown, const std::vector<PlotMark>& marks) {
  const double reach = kNear * std::max(shown.high - shown.low, 0.2 * std::max(std::abs(shown.high), std::abs(shown.low)));
  Extent extent;
  extent.add(shown.low);
  extent.add(shown.high);
  for (const PlotMark& mark : marks)
    if (mark.at >= shown.low - reach && mark.at <= shown.high + reach) extent.add(mark.at);
  return extent.interval();
}

Interval with_margin(Interval shown, double part) {
  const double margin = part * (shown.high - shown.low);
  return {shown.low - margin, shown.high + margin};
}

Frame draw_frame(const Plot& plot, const FrameAxes& axes, SvgCanvas& canvas) {
  const int num_rows = num_mark_rows(plot);
  Frame frame;
  frame.area.left = widest(axes.y.ticks) + kTickGap;
  frame.area.right = kSvgWidth - std::max(kTickGap, widest(axes.x.ticks) / 2 + 2);
  frame.area.top = kSvgText + 24 + num_rows * kSvgLine;
  frame.area.bottom = frame.area.top + kAreaHeight;
  frame.x = {axes.x.domain, frame.area.left, frame.area.right};
  frame.y = {axes.y.domain, frame.area.bottom, frame.area.top};
  frame.end = frame.area.bottom + 2 * kSvgLine + 4 + kTickGap;
  draw_y_axis(plot, axes.y, frame, canvas);
  draw_x_axis(plot, axes, frame, canvas);
  draw_marks(plot, frame, num_rows, canvas);
  return frame;
}

}  // namespace rematch::report
