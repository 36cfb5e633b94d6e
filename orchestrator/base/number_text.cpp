#include "orchestrator/base/number_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace rematch::base {

namespace {

struct Unit {
  double bytes;
  const char* name;
};
struct UnitSystem {
  std::array<Unit, 4> units;  // largest first
};

const UnitSystem& unit_system(ByteUnits units) {
  static constexpr UnitSystem kDecimal = {{{{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}}}};
  static constexpr UnitSystem kBinary = {{{{1024.0 * 1024 * 1024, "GiB"}, {1024.0 * 1024, "MiB"}, {1024.0, "KiB"}, {1, "B"}}}};
  switch (units) {
    case ByteUnits::kGB: return kDecimal;
    case ByteUnits::kGiB: return kBinary;
  }
  return kDecimal;
}

std::string printed(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

}  // namespace

std::string bytes_text(std::int64_t bytes, ByteUnits units, Sign sign) {
  const UnitSystem& system = unit_system(units);
  const double magnitude = std::abs(static_cast<double>(bytes));
  auto fits = [&](const Unit& unit) { return magnitude >= unit.bytes; };
  const auto unit = std::find_if(system.units.begin(), system.units.end() - 1, fits);
  const bool is_whole = unit->bytes == 1;
  const char* format = sign == Sign::kAlways ? (is_whole ? "%+.0f" : "%+.3f") : (is_whole ? "%.0f" : "%.3f");
  return printed(format, static_cast<double>(bytes) / unit->bytes) + " " + unit->name;
}

std::string signed_bytes_text(std::int64_t bytes) {
  return bytes_text(bytes, ByteUnits::kGB, bytes == 0 ? Sign::kWhenNegative : Sign::kAlways);
}

std::string percent_text(double fraction) { return printed("%+.2f %%", 100 * fraction); }

std::string milliseconds_text(double time_ns) { return printed("%.2f ms", time_ns * 1e-6); }

}  // namespace rematch::base
