// Layers from zero, one path each, the highest first; every top edge shows, since the layers can be seen through.
#include <algorithm>
#include <numeric>

#include "orchestrator/report/formats/svg_frame.h"
#include "orchestrator/report/formats/svg_kinds.h"
#include "orchestrator/report/formats/svg_legend.h"

namespace rematch::report {

namespace {

double highest(const PlotSeries& series) {
  double value = 0;
  for (const std::optional<double>& y : series.y) value = std::max(value, y.value_or(0));
  return value;
}

std::vector<std::size_t> highest_first(const Plot& plot) {
  std::vector<std::size_t> order(plot.series.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return highest(plot.series[a]) > highest(plot.series[b]); });
  return order;
}

SvgPath layer_path(const PlotSeries& series, const Frame& frame) {
  SvgPath path;
  bool is_open = false;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const int x = frame.x.at(series.x[i]);
    if (!series.y[i]) {
      if (is_open) {
        path.line_to(x, frame.area.bottom);
        path.close();
      }
      is_open = false;
      continue;
    }
    if (!is_open) path.move_to(x, frame.area.bottom);
    const int y = std::max(frame.y.at(*series.y[i]), frame.area.top);
    path.line_to(x, y);
    if (i + 1 < series.x.size()) path.line_to(frame.x.at(series.x[i + 1]), y);
    is_open = true;
  }
  return path;
}

}  // namespace

int draw_layers(const Plot& plot, ByteUnits units, SvgCanvas& canvas) {
  const Interval y = {0, plot.y.up_to.value_or(interval_of_y(plot).high)};
  FrameAxes axes = {make_ticks(interval_of_x(plot), plot.x.unit, units, AxisEnds::kKept, 8),
                    make_ticks(y, plot.y.unit, units, AxisEnds::kRounded, 5), TickPlace::kAfterHalf};
  const Frame frame = draw_frame(plot, axes, canvas);
  for (const std::size_t i : highest_first(plot))
    canvas.path(layer_path(plot.series[i], frame), "y " + series_class(i), series_dashes(i), plot.series[i].name);
  return draw_legend(legend_of(plot, Swatch::kLayer), frame.end, canvas);
}

}  // namespace rematch::report
