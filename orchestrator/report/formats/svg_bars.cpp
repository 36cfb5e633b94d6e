// Bars lie, so that the names of categories can be read: one under the other, values to the right.
#include <algorithm>
#include <cmath>

#include "orchestrator/report/formats/svg_axis.h"
#include "orchestrator/report/formats/svg_kinds.h"
#include "orchestrator/report/formats/svg_legend.h"

namespace rematch::report {

namespace {

constexpr int kMaxNameWidth = 300;
constexpr int kBar = 30;
constexpr int kBarGap = 18;
constexpr int kTop = 52;  // under the line of titles
constexpr int kGap = 12;

struct Rows {
  Scale scale;
  int left = 0;
  int row_height = 0;
  int bottom = 0;
  int top_of(std::size_t category) const { return kTop + static_cast<int>(category) * row_height + kBarGap / 2; }
};

// The value of a series in a category; nullopt: none.
std::optional<double> value_of(const PlotSeries& series, std::size_t category) {
  for (std::size_t i = 0; i < series.x.size(); ++i)
    if (std::llround(series.x[i]) == static_cast<long long>(category)) return series.y[i];
  return std::nullopt;
}

std::optional<double> sum_of(const Plot& plot, std::size_t category) {
  std::optional<double> sum;
  for (const PlotSeries& series : plot.series)
    if (const auto value = value_of(series, category)) sum = sum.value_or(0) + *value;
  return sum;
}

int names_width(const Plot& plot) {
  int width = 0;
  for (const std::string& name : plot.categories) width = std::max(width, text_width(name));
  return std::min(width, kMaxNameWidth);
}

// `largest`: the value of the longest bar.
Rows draw_rows(const Plot& plot, double largest, int row_height, ByteUnits units, SvgCanvas& canvas) {
  const AxisTicks ticks = make_ticks({0, largest}, plot.y.unit, units, AxisEnds::kKept, 4);
  Rows rows;
  rows.left = names_width(plot) + kGap;
  rows.row_height = row_height;
  rows.bottom = rows.top_of(plot.categories.size());
  rows.scale = {ticks.domain, rows.left, kSvgWidth - text_width(value_text(largest, plot.y.unit, units)) - 2 * kGap};
  canvas.text(0, kSvgText, Anchor::kStart, fitted(plot.x.title, kSvgWidth), "t");
  SvgPath grid;
  for (const Tick& tick : ticks.ticks) {
    const int x = rows.scale.at(tick.at);
    grid.move_to(x, kTop);
    grid.line_to(x, rows.bottom);
    canvas.text_if_free(x, rows.bottom + kSvgLine, Anchor::kMiddle, tick.text, {0, rows.bottom, kSvgWidth, rows.bottom + 2 * kSvgLine},
                        "t");
  }
  canvas.path(grid, "g");
  canvas.text(rows.left, rows.bottom + 2 * kSvgLine + 4, Anchor::kStart, fitted(axis_text(plot.y, ticks), kSvgWidth - rows.left), "t");
  for (std::size_t i = 0; i < plot.categories.size(); ++i) {
    const std::string name = fitted(plot.categories[i], kMaxNameWidth);
    canvas.text(rows.left - kGap, rows.top_of(i) + (row_height - kBarGap) / 2 + 9, Anchor::kEnd, name, "",
                name == plot.categories[i] ? "" : plot.categories[i]);
  }
  return rows;
}

SvgPath bar_path(int left, int right, int top) {
  SvgPath path;
  path.move_to(left, top);
  path.line_to(right, top);
  path.line_to(right, top + kBar);
  path.line_to(left, top + kBar);
  path.close();
  return path;
}

void draw_bar_value(const std::string& text, int right, int top, SvgCanvas& canvas) {
  canvas.text(right + kGap, top + kBar / 2 + 9, Anchor::kStart, text, "v");
}

int finish(const Plot& plot, const Rows& rows, SvgCanvas& canvas) {
  return draw_legend(legend_of(plot, Swatch::kBar), rows.bottom + 2 * kSvgLine + 4 + kGap, canvas);
}

}  // namespace

int draw_stacked_bars(const Plot& plot, ByteUnits units, SvgCanvas& canvas) {
  double largest = 0;
  for (std::size_t i = 0; i < plot.categories.size(); ++i) largest = std::max(largest, sum_of(plot, i).value_or(0));
  const Rows rows = draw_rows(plot, largest, kBar + kBarGap, units, canvas);
  for (std::size_t i = 0; i < plot.categories.size(); ++i) {
    double below = 0;
    for (std::size_t s = 0; s < plot.series.size(); ++s) {
      const std::optional<double> value = value_of(plot.series[s], i);
      if (!value || *value <= 0) continue;
      canvas.path(bar_path(rows.scale.at(below), rows.scale.at(below + *value), rows.top_of(i)), "b", series_hatch(s),
                  plot.series[s].name + ": " + value_text(*value, plot.y.unit, units));
      below += *value;
    }
    if (const auto sum = sum_of(plot, i)) draw_bar_value(value_text(*sum, plot.y.unit, units), rows.scale.at(*sum), rows.top_of(i), canvas);
  }
  return finish(plot, rows, canvas);
}

int draw_grouped_bars(const Plot& plot, ByteUnits units, SvgCanvas& canvas) {
  double largest = 0;
  for (const PlotSeries& series : plot.series)
    for (const std::optional<double>& y : series.y) largest = std::max(largest, y.value_or(0));
  const int num_series = std::max(1, static_cast<int>(plot.series.size()));
  const Rows rows = draw_rows(plot, largest, num_series * (kBar + 4) + kBarGap, units, canvas);
  for (std::size_t i = 0; i < plot.categories.size(); ++i)
    for (std::size_t s = 0; s < plot.series.size(); ++s) {
      const std::optional<double> value = value_of(plot.series[s], i);
      if (!value) continue;
      const int top = rows.top_of(i) + static_cast<int>(s) * (kBar + 4);
      const std::string text = value_text(*value, plot.y.unit, units);
      canvas.path(bar_path(rows.left, rows.scale.at(std::max(*value, 0.0)), top), "b", series_hatch(s), plot.series[s].name + ": " + text);
      draw_bar_value(text, rows.scale.at(std::max(*value, 0.0)), top, canvas);
    }
  return finish(plot, rows, canvas);
}

}  // namespace rematch::report
