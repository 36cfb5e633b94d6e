// How each kind of plot is drawn. Each returns the height that it took, in units of the picture.
#pragma once

#include "orchestrator/report/format.h"
#include "orchestrator/report/formats/svg_canvas.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

int draw_points(const Plot& plot, ByteUnits units, SvgCanvas& canvas);
int draw_lines(const Plot& plot, ByteUnits units, SvgCanvas& canvas);
int draw_layers(const Plot& plot, ByteUnits units, SvgCanvas& canvas);
int draw_stacked_bars(const Plot& plot, ByteUnits units, SvgCanvas& canvas);
int draw_grouped_bars(const Plot& plot, ByteUnits units, SvgCanvas& canvas);

}  // namespace rematch::report
