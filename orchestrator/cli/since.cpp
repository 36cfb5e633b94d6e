#include "orchestrator/cli/since.h"

#include <chrono>
#include <optional>
#include <regex>

#include "orchestrator/base/whole_number.h"

namespace rematch::cli {

namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

std::int64_t number_of(const std::ssub_match& part) { return part.matched ? base::whole_number(part.str()).value_or(0) : 0; }

std::optional<std::int64_t> ago(const std::string& text, std::int64_t now_unix_ns) {
  static const std::regex form("([0-9]{1,6})([smhdw])");
  std::smatch parts;
  if (!std::regex_match(text, parts, form)) return std::nullopt;
  const char unit = *parts[2].first;
  const std::int64_t unit_s = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600 : unit == 'd' ? 86'400 : 604'800;
  const std::int64_t ago_s = number_of(parts[1]) * unit_s;
  if (ago_s > now_unix_ns / nanoseconds(seconds(1)).count()) return 0;  // in nanoseconds it might not fit 64 bits
  return now_unix_ns - nanoseconds(seconds(ago_s)).count();
}

std::optional<std::int64_t> at(const std::string& text) {
  static const std::regex form("([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?)?Z?");
  std::smatch parts;
  if (!std::regex_match(text, parts, form)) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(number_of(parts[1]))),
                                         std::chrono::month(static_cast<unsigned>(number_of(parts[2]))),
                                         std::chrono::day(static_cast<unsigned>(number_of(parts[3]))));
  const std::int64_t hour = number_of(parts[4]);
  const std::int64_t minute = number_of(parts[5]);
  const std::int64_t second = number_of(parts[6]);
  constexpr int kLastYear = 2261;  // that nanoseconds in 64 bits reach to its end
  if (!date.ok() || int{date.year()} < 1970 || int{date.year()} > kLastYear || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return nanoseconds(seconds(((days * 24 + hour) * 60 + minute) * 60 + second)).count();
}

}  // namespace

base::Result<std::int64_t> parse_since(const std::string& text, std::int64_t now_unix_ns) {
  if (const auto time = ago(text, now_unix_ns)) return *time;
  if (const auto time = at(text)) return *time;
  return base::Error{"--since wants a time in UTC, such as 2026-11-01 or 2026-11-01T10:30, or how long ago: 90s, 30m, 6h, 2d, 1w; found '" +
                     text + "'"};
}

}  // namespace rematch::cli
