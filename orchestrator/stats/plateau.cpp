#include "orchestrator/stats/plateau.h"

#include <algorithm>

namespace rematch::stats {

std::int64_t allowed_growth_bytes(std::int64_t peak_bytes) {
  constexpr std::int64_t kAllowedBytes = std::int64_t{2} << 20;
  return std::max(kAllowedBytes, peak_bytes / 200);
}

Plateau find_plateau(std::span<const std::int64_t> lifetime_peak_bytes) {
  Plateau plateau;
  const std::size_t num_steps = lifetime_peak_bytes.size();
  if (num_steps < 3) return plateau;
  const std::int64_t before = lifetime_peak_bytes[num_steps * 2 / 3 - 1];
  plateau.growth_bytes = lifetime_peak_bytes.back() - before;
  plateau.allowed_bytes = allowed_growth_bytes(before);
  plateau.reached = plateau.growth_bytes <= plateau.allowed_bytes;
  return plateau;
}

}  // namespace rematch::stats
