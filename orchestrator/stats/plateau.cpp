#include "orchestrator/stats/plateau.h"

#include <algorithm>

namespace rematch::stats {

Plateau find_plateau(std::span<const std::int64_t> lifetime_peak_bytes) {
  Plateau plateau;
  const std::size_t num_steps = lifetime_peak_bytes.size();
  if (num_steps < 3) return plateau;
  constexpr std::int64_t kAllowedBytes = std::int64_t{2} << 20;
  const std::int64_t before = lifetime_peak_bytes[num_steps * 2 / 3 - 1];
  plateau.growth_bytes = lifetime_peak_bytes.back() - before;
  plateau.allowed_bytes = std::max(kAllowedBytes, before / 200);
  plateau.reached = plateau.growth_bytes <= plateau.allowed_bytes;
  return plateau;
}

}  // namespace rematch::stats
