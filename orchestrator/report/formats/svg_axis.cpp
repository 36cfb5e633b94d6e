#include "orchestrator/report/formats/svg_axis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "orchestrator/report/cell_text.h"

namespace rematch::report {

namespace {

struct TickUnit {
  double size = 1;
  std::string name;
};

// The largest unit that the larger end reaches.
TickUnit bytes_unit(double magnitude, ByteUnits units) {
  const bool is_binary = units == ByteUnits::kGiB;
  const double base = is_binary ? 1024 : 1000;
  const std::array<const char*, 4> names = is_binary ? std::array{"B", "KiB", "MiB", "GiB"} : std::array{"B", "kB", "MB", "GB"};
  std::size_t power = 0;
  while (power + 1 < names.size() && magnitude >= std::pow(base, static_cast<double>(power + 1))) ++power;
  return {std::pow(base, static_cast<double>(power)), names[power]};
}

TickUnit tick_unit(const Interval& shown, PlotUnit unit, ByteUnits units) {
  switch (unit) {
    case PlotUnit::kBytes: return bytes_unit(std::max(std::abs(shown.low), std::abs(shown.high)), units);
    case PlotUnit::kNanoseconds: return {1e6, "ms"};
    case PlotUnit::kNone:
    case PlotUnit::kStep:
    case PlotUnit::kRank: break;
  }
  return {};
}

bool is_whole(PlotUnit unit) { return unit == PlotUnit::kStep || unit == PlotUnit::kRank; }

double round_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

std::string tick_text(double value, double step) {
  const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.*f", decimals, value == 0 ? 0.0 : value);
  return buffer.data();
}

Interval widened(Interval shown) {
  if (shown.high > shown.low) return shown;
  const double margin = shown.low == 0 ? 1 : std::abs(shown.low) * 0.05;
  return {shown.low - margin, shown.low + margin};
}

}  // namespace

AxisTicks make_ticks(Interval shown, PlotUnit unit, ByteUnits units, AxisEnds ends, int max_ticks) {
  shown = widened(shown);
  const TickUnit in = tick_unit(shown, unit, units);
  const double low = shown.low / in.size;
  const double high = shown.high / in.size;
  double step = round_step((high - low) / max_ticks);
  if (is_whole(unit)) step = std::max(step, 1.0);
  const bool is_rounded = ends == AxisEnds::kRounded;
  // A hair inward, so that an end that is a tick but for rounding adds none.
  const double first = is_rounded ? std::floor(low / step + 1e-9) : std::ceil(low / step - 1e-9);
  const double last = is_rounded ? std::ceil(high / step - 1e-9) : std::floor(high / step + 1e-9);
  AxisTicks axis{shown, {}, in.name};
  if (is_rounded) axis.domain = {first * step * in.size, last * step * in.size};
  for (double i = first; i <= last; ++i) axis.ticks.push_back({i * step * in.size, tick_text(i * step, step)});
  return axis;
}

std::string axis_text(const PlotAxis& axis, const AxisTicks& ticks) {
  return ticks.unit.empty() ? axis.title : axis.title + " (" + ticks.unit + ")";
}

std::string value_text(double value, PlotUnit unit, ByteUnits units) {
  switch (unit) {
    case PlotUnit::kBytes: return display_text(Bytes{std::llround(value)}, units);
    case PlotUnit::kNanoseconds: return display_text(Nanoseconds{value}, units);
    case PlotUnit::kStep:
    case PlotUnit::kRank: return display_text(Count{std::llround(value)}, units);
    case PlotUnit::kNone: break;
  }
  return display_text(Number{value}, units);
}

int Scale::at(double value) const {
  // What lies far off is beyond the picture wherever it is; a coordinate is a whole number of some digits.
  const double part = std::clamp((value - domain.low) / (domain.high - domain.low), -1000.0, 1000.0);
  return from + static_cast<int>(std::lround(part * (to - from)));
}

}  // namespace rematch::report
