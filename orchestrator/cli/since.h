// A time that a user names, in UTC: a date, a date with a time of day, or how long ago. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "orchestrator/base/result.h"

namespace rematch::cli {

// "2026-11-01", "2026-11-01T10:30", "2026-11-01 10:30:15", each with or without Z; or "90s", "30m", "6h", "2d", "1w" before now.
// Returns nanoseconds since 1970 UTC, 0 for what was before. The error names these forms.
base::Result<std::int64_t> parse_since(const std::string& text, std::int64_t now_unix_ns);

}  // namespace rematch::cli
