// A number of bytes for people: three decimals of the largest unit of which there is at least one. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "orchestrator/report/format.h"

namespace rematch::report {

enum class Sign { kWhenNegative, kAlways };

std::string bytes_text(std::int64_t value, ByteUnits units, Sign sign = Sign::kWhenNegative);

}  // namespace rematch::report
