#include "orchestrator/report/formats/svg_legend.h"

#include <algorithm>

namespace rematch::report {

namespace {

constexpr std::size_t kMaxEntries = 16;  // as many as there are looks
constexpr int kSwatchWidth = 44;
constexpr int kGap = 12;         // from a swatch to its text
constexpr int kEntryGap = 34;    // from a text to the next swatch
constexpr int kHalfSwatch = 10;  // of its height
constexpr int kAboveBase = 9;    // the middle of a text over its base line

SvgPath box_path(int left, int middle) {
  SvgPath path;
  path.move_to(left, middle - kHalfSwatch);
  path.line_to(left + kSwatchWidth, middle - kHalfSwatch);
  path.line_to(left + kSwatchWidth, middle + kHalfSwatch);
  path.line_to(left, middle + kHalfSwatch);
  path.close();
  return path;
}

SvgPath line_path(int left, int middle) {
  SvgPath path;
  path.move_to(left, middle);
  path.line_to(left + kSwatchWidth, middle);
  return path;
}

void draw_swatch(const LegendEntry& entry, int left, int middle, SvgCanvas& canvas) {
  const std::string look = series_class(entry.series);
  const int centre = left + kSwatchWidth / 2;
  switch (entry.swatch) {
    case Swatch::kFilledPoint: return canvas.circle(centre, middle, 9, "p");
    case Swatch::kHollowPoint: return canvas.circle(centre, middle, 8, "o");
    case Swatch::kFaintPoint: return canvas.circle(centre, middle, 4, "i");
    case Swatch::kFront: return canvas.path(line_path(left, middle), "w");
    case Swatch::kLine: return canvas.path(line_path(left, middle), "l " + look, series_dashes(entry.series));
    case Swatch::kLayer: return canvas.path(box_path(left, middle), "y " + look, series_dashes(entry.series));
    case Swatch::kBar: return canvas.path(box_path(left, middle), "b", series_hatch(entry.series));
  }
}

}  // namespace

std::vector<LegendEntry> legend_of(const Plot& plot, Swatch swatch) {
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < std::min(plot.series.size(), kMaxEntries); ++i) entries.push_back({swatch, i, plot.series[i].name});
  if (plot.series.size() > kMaxEntries)
    entries.back().text = "and " + std::to_string(plot.series.size() - kMaxEntries + 1) + " more, in these looks again";
  return entries;
}

int draw_legend(const std::vector<LegendEntry>& entries, int top, SvgCanvas& canvas) {
  int left = 0;
  int base = top + kSvgText;
  for (const LegendEntry& entry : entries) {
    const std::string text = fitted(entry.text, kSvgWidth - kSwatchWidth - kGap);
    const int width = kSwatchWidth + kGap + text_width(text);
    if (left > 0 && left + width > kSvgWidth) {
      left = 0;
      base += kSvgLine;
    }
    draw_swatch(entry, left, base - kAboveBase, canvas);
    canvas.text(left + kSwatchWidth + kGap, base, Anchor::kStart, text, "", text == entry.text ? "" : entry.text);
    left += width + kEntryGap;
  }
  return entries.empty() ? top : base + kSvgLine - kSvgText;
}

}  // namespace rematch::report
