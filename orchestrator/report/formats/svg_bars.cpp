// Bars lie, so that the names of categories can be read: one under the other, values to the right.
#include <algorithm>
#include <cmath>

#include "orchestrator/report/formats/svg_axis.h"
#include "orchestrator/report/formats/svg_kinds.h"
#include "orchestrator/report/formats/svg_legend.h"

namespace rematch::report {

namespace {

constexpr int kMaxNameWidth = 300;  // beside its bars; longer names stand above them
constexpr int kBar = 30;
constexpr int kBarStep = 34;  // from one bar of a group to the next
constexpr int kBarGap = 18;
constexpr int kTop = 52;  // under the line of titles
constexpr int kGap = 12;

struct Rows {
  Scale scale;
  int left = 0;
  int name_height = 0;  // of a name above its bars
  int row_height = 0;
  int bottom = 0;
  int top_of(std::size_t category) const { return kTop + static_cast<int>(category) * row_height + kBarGap / 2 + name_height; }
};

// What the rows have to hold.
struct Content {
  double largest = 0;  // the value of the longest bar
  int value_width = 0;
  int bars_height = 0;  // of a category
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
  return width;
}

Rows place_rows(const Plot& plot, const Content& content, const Interval& domain) {
  const int width = names_width(plot);
  Rows rows;
  rows.name_height = width > kMaxNameWidth ? kSvgLine : 0;
  rows.left = width > kMaxNameWidth ? 0 : width + kGap;
  rows.row_height = content.bars_height + kBarGap + rows.name_height;
  rows.bottom = kTop + static_cast<int>(plot.categories.size()) * rows.row_height;
  rows.scale = {domain, rows.left, kSvgWidth - content.value_width - 2 * kGap};
  return rows;
}

void draw_names(const Plot& plot, const Rows& rows, int bars_height, SvgCanvas& canvas) {
  const bool are_above = rows.name_height > 0;
  for (std::size_t i = 0; i < plot.categories.size(); ++i) {
    const std::string name = fitted(plot.categories[i], are_above ? kSvgWidth : kMaxNameWidth);
    const int base = are_above ? rows.top_of(i) - kGap + 2 : rows.top_of(i) + bars_height / 2 + 9;
    canvas.text(are_above ? 0 : rows.left - kGap, base, are_above ? Anchor::kStart : Anchor::kEnd, name, "",
                name == plot.categories[i] ? "" : plot.categories[i]);
  }
}

Rows draw_rows(const Plot& plot, const Content& content, ByteUnits units, SvgCanvas& canvas) {
  const AxisTicks ticks = make_ticks({0, content.largest}, plot.y.unit, units, AxisEnds::kKept, 4);
  const Rows rows = place_rows(plot, content, ticks.domain);
  canvas.text(0, kSvgText, Anchor::kStart, fitted(plot.x.title, kSvgWidth), "t");
  SvgPath grid;
  for (const Tick& tick : ticks.ticks) {
    const int x = rows.scale.at(tick.at);
    grid.move_to(x, kTop);
    grid.line_to(x, rows.bottom);
    canvas.text_if_free(x, rows.bottom + kSvgLine, x == 0 ? Anchor::kStart : Anchor::kMiddle, tick.text,
                        {0, rows.bottom, kSvgWidth, rows.bottom + 2 * kSvgLine}, "t");
  }
  canvas.path(grid, "g");
  canvas.text(rows.left, rows.bottom + 2 * kSvgLine + 4, Anchor::kStart, fitted(axis_text(plot.y, ticks), kSvgWidth - rows.left), "t");
  draw_names(plot, rows, content.bars_height, canvas);
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

void add_value(double value, const Plot& plot, ByteUnits units, Content& content) {
  content.largest = std::max(content.largest, value);
  content.value_width = std::max(content.value_width, text_width(value_text(value, plot.y.unit, units)));
}

void draw_bar_value(const std::string& text, int right, int top, SvgCanvas& canvas) {
  canvas.text(right + kGap, top + kBar / 2 + 9, Anchor::kStart, text, "v");
}

int finish(const Plot& plot, const Rows& rows, SvgCanvas& canvas) {
  return draw_legend(legend_of(plot, Swatch::kBar), rows.bottom + 2 * kSvgLine + 4 + kGap, canvas);
}

}  // namespace

int draw_stacked_bars(const Plot& plot, ByteUnits units, SvgCanvas& canvas) {
  Content content{0, 0, kBar};
  for (std::size_t i = 0; i < plot.categories.size(); ++i)
    if (const auto sum = sum_of(plot, i)) add_value(*sum, plot, units, content);
  const Rows rows = draw_rows(plot, content, units, canvas);
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
  Content content{0, 0, std::max(1, static_cast<int>(plot.series.size())) * kBarStep};
  for (const PlotSeries& series : plot.series)
    for (const std::optional<double>& y : series.y)
      if (y) add_value(*y, plot, units, content);
  const Rows rows = draw_rows(plot, content, units, canvas);
  for (std::size_t i = 0; i < plot.categories.size(); ++i)
    for (std::size_t s = 0; s < plot.series.size(); ++s) {
      const std::optional<double> value = value_of(plot.series[s], i);
      if (!value) continue;
      const int top = rows.top_of(i) + static_cast<int>(s) * kBarStep;
      const int right = rows.scale.at(std::max(*value, 0.0));
      const std::string text = value_text(*value, plot.y.unit, units);
      canvas.path(bar_path(rows.left, right, top), "b", series_hatch(s), plot.series[s].name + ": " + text);
      draw_bar_value(text, right, top, canvas);
    }
  return finish(plot, rows, canvas);
}

}  // namespace rematch::report
