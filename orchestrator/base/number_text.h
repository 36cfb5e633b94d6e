// Numbers as people read them, with their units: in cells, sentences of reasons and findings. Pure.
#pragma once

#include <cstdint>
#include <string>

namespace rematch::base {

enum class ByteUnits { kGB, kGiB };
enum class Sign { kWhenNegative, kAlways };

// Three decimals of the largest unit of which there is at least one: "36.618 GB", "512 B"; small models would read 0.001 GB in a fixed one.
std::string bytes_text(std::int64_t bytes, ByteUnits units = ByteUnits::kGB, Sign sign = Sign::kWhenNegative);
std::string signed_bytes_text(std::int64_t bytes);  // "+5 B", "-5 B", "0 B"
std::string percent_text(double fraction);          // "+1.99 %"
std::string milliseconds_text(double time_ns);      // "10.20 ms"

}  // namespace rematch::base
