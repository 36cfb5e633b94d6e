#include "orchestrator/base/slurm_time.h"

#include <vector>

#include "orchestrator/base/whole_number.h"

namespace rematch::base {

namespace {

constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::int64_t kMost = 1'000'000'000;

std::optional<std::int64_t> parse_count(std::string_view text) {
  const auto count = whole_number(text);
  return count && *count >= 0 && *count < kMost ? count : std::nullopt;
}

// "1:30:00" -> 1, 30, 0; empty when a part is no number.
std::vector<std::int64_t> split(std::string_view text) {
  std::vector<std::int64_t> parts;
  while (true) {
    const auto colon = text.find(':');
    const auto part = parse_count(text.substr(0, colon));
    if (!part) return {};
    parts.push_back(*part);
    if (colon == std::string_view::npos) return parts;
    text.remove_prefix(colon + 1);
  }
}

struct Span {
  std::optional<std::int64_t> days;
  std::vector<std::int64_t> parts;  // one to three
};

std::optional<Span> parse(std::string_view text) {
  Span span;
  const auto dash = text.find('-');
  if (dash != std::string_view::npos) {
    span.days = parse_count(text.substr(0, dash));
    if (!span.days) return std::nullopt;
    text.remove_prefix(dash + 1);
  }
  span.parts = split(text);
  return span.parts.empty() || span.parts.size() > 3 ? std::nullopt : std::optional(span);
}

// The first part counts units of `first_s`, each further one a sixtieth of the one before.
std::int64_t total_s(const std::vector<std::int64_t>& parts, std::int64_t first_s) {
  std::int64_t total = 0;
  for (std::int64_t part : parts) {
    total += part * first_s;
    first_s /= 60;
  }
  return total;
}

}  // namespace

std::optional<std::int64_t> parse_slurm_limit_s(std::string_view text) {
  const auto span = parse(text);
  if (!span) return std::nullopt;
  const std::int64_t limit_s =
      span->days ? *span->days * kDay + total_s(span->parts, kHour) : total_s(span->parts, span->parts.size() == 3 ? kHour : kMinute);
  return limit_s == 0 ? std::nullopt : std::optional(limit_s);
}

std::optional<std::int64_t> parse_slurm_span_s(std::string_view text) {
  const auto span = parse(text);
  if (!span || span->parts.size() == 1) return std::nullopt;
  return span->days.value_or(0) * kDay + total_s(span->parts, span->parts.size() == 3 ? kHour : kMinute);
}

}  // namespace rematch::base
