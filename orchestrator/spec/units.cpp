#include "orchestrator/spec/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

namespace rematch::spec {

namespace {

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

constexpr std::array<Unit, 4> kDurations = {{{"h", 3'600'000}, {"min", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr std::int64_t kKibi = 1024;
constexpr std::array<Unit, 9> kSizes = {{{"TiB", kKibi* kKibi* kKibi* kKibi},
                                         {"TB", 1'000'000'000'000},
                                         {"GiB", kKibi* kKibi* kKibi},
                                         {"GB", 1'000'000'000},
                                         {"MiB", kKibi* kKibi},
                                         {"MB", 1'000'000},
                                         {"KiB", kKibi},
                                         {"kB", 1'000},
                                         {"B", 1}}};

struct Quantity {
  double number;
  std::string_view unit;
};

std::optional<Quantity> split(std::string_view text) {
  Quantity quantity{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), quantity.number, std::chars_format::fixed);
  if (error != std::errc{} || quantity.number < 0) return std::nullopt;
  quantity.unit = text.substr(static_cast<std::size_t>(end - text.data()));
  while (!quantity.unit.empty() && quantity.unit.front() == ' ') quantity.unit.remove_prefix(1);
  return quantity;
}

std::optional<std::int64_t> parse_in(std::string_view text, std::span<const Unit> units) {
  const auto quantity = split(text);
  if (!quantity) return std::nullopt;
  for (const Unit& unit : units) {
    if (unit.name != quantity->unit) continue;
    const double total = std::round(quantity->number * static_cast<double>(unit.factor));
    if (total >= static_cast<double>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    return static_cast<std::int64_t>(total);
  }
  return std::nullopt;
}

std::string format_in(std::int64_t value, std::span<const Unit> units) {
  for (const Unit& unit : units)
    if (value != 0 && value % unit.factor == 0) return std::to_string(value / unit.factor) + std::string(unit.name);
  return std::to_string(value) + std::string(units.back().name);
}

}  // namespace

std::optional<std::int64_t> parse_duration_ms(std::string_view text) { return parse_in(text, kDurations); }
std::optional<std::int64_t> parse_size_bytes(std::string_view text) { return parse_in(text, kSizes); }

std::optional<double> parse_percent(std::string_view text) {
  const auto quantity = split(text);
  if (!quantity || quantity->unit != "%") return std::nullopt;
  return quantity->number / 100;
}

std::string format_duration_ms(std::int64_t duration_ms) { return format_in(duration_ms, kDurations); }
std::string format_size_bytes(std::int64_t size_bytes) { return format_in(size_bytes, kSizes); }

std::string format_number(double value) {
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end};
}

}  // namespace rematch::spec
