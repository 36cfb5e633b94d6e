// The lines under a plot that say which mark is what. Pure.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/report/formats/svg_canvas.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

enum class Swatch { kFilledPoint, kHollowPoint, kFaintPoint, kFront, kLine, kLayer, kBar };

struct LegendEntry {
  Swatch swatch = Swatch::kLine;
  std::size_t series = 0;  // whose look it has
  std::string text;
};

// One entry a series; of very many only the first, and how many more there are.
std::vector<LegendEntry> legend_of(const Plot& plot, Swatch swatch);

// As many lines as it needs from `top` on. Returns where it ends.
int draw_legend(const std::vector<LegendEntry>& entries, int top, SvgCanvas& canvas);

}  // namespace rematch::report
