// The frame of a plot with two axes of values: titles, ticks, grid and the marks on x. Pure.
#pragma once

#include <vector>

#include "orchestrator/report/formats/svg_axis.h"
#include "orchestrator/report/formats/svg_canvas.h"

namespace rematch::report {

struct Frame {
  Box area;  // where values are
  Scale x;
  Scale y;
  int end = 0;  // where the frame, its titles counted, ends
};

// Where the values of an axis lie, and those of x's marks that are not far off. Of nothing: from 0 to 1.
Interval interval_of_x(const Plot& plot);
Interval interval_of_y(const Plot& plot);
Interval with_near_marks(Interval shown, const std::vector<PlotMark>& marks);
// A part of its length more on each side.
Interval with_margin(Interval shown, double part);

enum class TickPlace { kAtValue, kAfterHalf };  // the second: a tick stands in the middle of the step that begins there

struct FrameAxes {
  AxisTicks x;
  AxisTicks y;
  TickPlace x_place = TickPlace::kAtValue;
};

// Draws all but the values.
Frame draw_frame(const Plot& plot, const FrameAxes& axes, SvgCanvas& canvas);

}  // namespace rematch::report
