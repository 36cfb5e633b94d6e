// The two clocks of every record. Safe from any thread; no failure on Linux.
#pragma once

#include <cstdint>

namespace rematch::probes {

std::int64_t mono_ns();  // CLOCK_MONOTONIC: comparable between processes of one machine, never set back
std::int64_t unix_ns();  // CLOCK_REALTIME: wall time since 1970

}  // namespace rematch::probes
