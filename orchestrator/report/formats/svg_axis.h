// Axes of a plot: round ticks in the unit that people read, and where on the picture a value is. Pure.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/report/format.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

struct Interval {
  double low = 0;
  double high = 0;
};

struct Tick {
  double at = 0;  // in the unit that the plot stores
  std::string text;
};

struct AxisTicks {
  Interval domain;  // what the axis shows
  std::vector<Tick> ticks;
  std::string unit;  // "GB", "ms"; empty: the title says it all
};

// What an axis does with the interval that it must show.
enum class AxisEnds {
  kRounded,  // it begins and ends at a tick
  kKept,
};

// At most `max_ticks` steps of 1, 2 or 5 times a power of ten of the unit; ranks and steps have whole ticks. An empty interval is widened.
AxisTicks make_ticks(Interval shown, PlotUnit unit, ByteUnits units, AxisEnds ends, int max_ticks);

// "peak allocated (GB)".
std::string axis_text(const PlotAxis& axis, const AxisTicks& ticks);

// A value with its unit, as a table's cell has it.
std::string value_text(double value, PlotUnit unit, ByteUnits units);

struct Scale {
  Interval domain;
  int from = 0;  // of the picture, where domain.low is
  int to = 0;
  int at(double value) const;
};

}  // namespace rematch::report
