#include "orchestrator/stats/ratio.h"

namespace rematch::stats {

std::optional<double> difference_fraction(std::optional<double> value, std::optional<double> base) {
  if (!value || !base || *base == 0) return std::nullopt;
  return *value / *base - 1;
}

}  // namespace rematch::stats
