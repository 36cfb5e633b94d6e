// Durations, sizes and percentages as people write them, both ways. Pure. A number without its unit is refused, never guessed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rematch::spec {

inline constexpr const char* kDurationUnits = "ms, s, min, h";
inline constexpr const char* kSizeUnits = "B, kB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB (powers of 1024)";

// "10min" -> 600000; null when the number or the unit is not one of kDurationUnits.
std::optional<std::int64_t> parse_duration_ms(std::string_view text);
// "2GiB" -> 2147483648, "1.5GB" -> 1500000000.
std::optional<std::int64_t> parse_size_bytes(std::string_view text);
// "2%" -> 0.02.
std::optional<double> parse_percent(std::string_view text);

// In the largest unit that divides it.
std::string format_duration_ms(std::int64_t duration_ms);
std::string format_size_bytes(std::int64_t size_bytes);
std::string format_number(double value);  // as short as reads back the same

}  // namespace rematch::spec
