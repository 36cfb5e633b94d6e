#include "orchestrator/report/formats/svg.h"

#include <algorithm>

#include "orchestrator/report/formats/html_text.h"
#include "orchestrator/report/formats/svg_kinds.h"

namespace rematch::report {

namespace {

constexpr std::size_t kMaxNames = 12;  // a listener is told so many

std::string names_text(const std::vector<PlotSeries>& series) {
  std::string text;
  for (std::size_t i = 0; i < std::min(series.size(), kMaxNames); ++i) text += (i == 0 ? "" : ", ") + series[i].name;
  return series.size() > kMaxNames ? text + " and " + std::to_string(series.size() - kMaxNames) + " more" : text;
}

std::string shape_text(PlotKind kind) {
  switch (kind) {
    case PlotKind::kPoints: return "Points";
    case PlotKind::kLayers: return "Layers from zero";
    case PlotKind::kLines: return "Lines";
    case PlotKind::kStackedBars: return "Stacked bars";
    case PlotKind::kGroupedBars: return "Bars in groups";
  }
  return "";
}

std::string description(const Plot& plot) {
  return shape_text(plot.kind) + ": " + plot.y.title + " by " + plot.x.title + ". Of: " + names_text(plot.series) +
         ". The figures stand in the tables.";
}

int draw(const Plot& plot, ByteUnits units, SvgCanvas& canvas) {
  switch (plot.kind) {
    case PlotKind::kPoints: return draw_points(plot, units, canvas);
    case PlotKind::kLayers: return draw_layers(plot, units, canvas);
    case PlotKind::kLines: return draw_lines(plot, units, canvas);
    case PlotKind::kStackedBars: return draw_stacked_bars(plot, units, canvas);
    case PlotKind::kGroupedBars: return draw_grouped_bars(plot, units, canvas);
  }
  return 0;
}

}  // namespace

std::string svg_of(const Plot& plot, ByteUnits units, const std::string& id) {
  SvgCanvas canvas;
  const int height = draw(plot, units, canvas);
  const std::string title_id = id + "-title";
  const std::string text_id = id + "-text";
  return "<svg role=\"img\"" + attribute("aria-labelledby", title_id + " " + text_id) +
         attribute("viewBox", "0 0 " + std::to_string(kSvgWidth) + " " + std::to_string(height)) + ">\n<title" + attribute("id", title_id) +
         ">" + escaped_html(plot.title) + "</title><desc" + attribute("id", text_id) + ">" + escaped_html(description(plot)) + "</desc>\n" +
         canvas.body() + "</svg>\n";
}

}  // namespace rematch::report
