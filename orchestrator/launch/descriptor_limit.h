// How many files a supervisor may have open: one a rank that it watches, and some of its own.
#pragma once

#include <cstdint>
#include <optional>

#include "orchestrator/base/result.h"

namespace rematch::launch {

std::int64_t descriptors_wanted(std::int64_t num_ranks);

// Raises this process's soft limit (RLIMIT_NOFILE) where it is lower than wanted, and no further: programs that it starts inherit it. The
// error names what is wanted and the hard limit, which only an administrator raises.
std::optional<base::Error> allow_ranks(std::int64_t num_ranks);

}  // namespace rematch::launch
