// Whether a lifetime peak has reached its plateau: it may grow in the last third of the run by max(2 MiB, 0.5 %) and no more. Pure.
#pragma once

#include <cstdint>
#include <span>

namespace rematch::stats {

struct Plateau {
  bool reached = false;
  std::int64_t growth_bytes = 0;  // in the last third of the steps
  std::int64_t allowed_bytes = 0;
};

// What routing and the allocator may add to such a peak in steady state.
std::int64_t allowed_growth_bytes(std::int64_t peak_bytes);

// One lifetime peak a step. Fewer than three steps have no last third: not reached.
Plateau find_plateau(std::span<const std::int64_t> lifetime_peak_bytes);

}  // namespace rematch::stats
