#include "orchestrator/rules/printed_range.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace rematch::rules {

namespace {

PrintedRange around(double value, double slack) { return {value, value - slack, value + slack}; }

double units_of_slack(bool is_approximate) { return is_approximate ? 1 : 0.5; }

double last_digit(std::int64_t decimal_places) { return std::pow(10.0, -static_cast<double>(decimal_places)); }

}  // namespace

PrintedRange printed_range(const protocol::PublishedBytes& figure) {
  return around(static_cast<double>(figure.bytes), units_of_slack(figure.is_approximate) * static_cast<double>(figure.resolution_bytes));
}

PrintedRange printed_range(const protocol::PublishedMean& figure) {
  return around(figure.value, units_of_slack(figure.is_approximate) * last_digit(figure.decimal_places));
}

PrintedRange printed_range(double value, std::int64_t decimal_places) { return around(value, last_digit(decimal_places) / 2); }

std::string printed_text(const protocol::PublishedBytes& figure) { return (figure.is_approximate ? "about " : "") + figure.as_published; }

std::string printed_text(const protocol::PublishedMean& figure, const std::string& unit) {
  std::array<char, 64> number{};
  std::snprintf(number.data(), number.size(), "%.*f", static_cast<int>(figure.decimal_places), figure.value);
  return (figure.is_approximate ? "about " : "") + std::string(number.data()) + (unit.empty() ? "" : " " + unit);
}

PrintedRange scaled(const PrintedRange& range, double factor) { return {range.value * factor, range.low * factor, range.high * factor}; }

PrintedRange product(const PrintedRange& a, const PrintedRange& b) {
  return {a.value * b.value, std::max(a.low, 0.0) * std::max(b.low, 0.0), a.high * b.high};
}

PrintedRange magnitude(const PrintedRange& a, const PrintedRange& b) {
  const double low = a.low - b.high;
  const double high = a.high - b.low;
  const double value = std::abs(a.value - b.value);
  if (low > 0) return {value, low, high};
  if (high < 0) return {value, -high, -low};
  return {value, 0, std::max(-low, high)};
}

std::optional<PrintedRange> ratio_less_one(const PrintedRange& a, const PrintedRange& b) {
  if (b.low <= 0) return std::nullopt;
  return PrintedRange{a.value / b.value - 1, a.low / b.high - 1, a.high / b.low - 1};
}

bool overlap(const PrintedRange& a, const PrintedRange& b) {
  // Ends that meet are rounded by the arithmetic too.
  const double slack = 1e-9 * std::max({std::abs(a.low), std::abs(a.high), std::abs(b.low), std::abs(b.high)});
  return a.low <= b.high + slack && b.low <= a.high + slack;
}

}  // namespace rematch::rules
