#include "orchestrator/report/bytes_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace rematch::report {

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

}  // namespace

// Small models would read 0.001 GB in a fixed unit.
std::string bytes_text(std::int64_t value, ByteUnits units, Sign sign) {
  const UnitSystem& system = unit_system(units);
  const double magnitude = std::abs(static_cast<double>(value));
  auto fits = [&](const Unit& unit) { return magnitude >= unit.bytes; };
  const auto unit = std::find_if(system.units.begin(), system.units.end() - 1, fits);
  const bool is_whole = unit->bytes == 1;
  const char* format = sign == Sign::kAlways ? (is_whole ? "%+.0f" : "%+.3f") : (is_whole ? "%.0f" : "%.3f");
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, static_cast<double>(value) / unit->bytes);
  return std::string(buffer.data()) + " " + unit->name;
}

}  // namespace rematch::report
