#include "orchestrator/rules/blocks_needed.h"

#include <algorithm>
#include <cmath>

namespace rematch::rules {

namespace {

constexpr std::int64_t kMostBlocks = 10'000;

// The widest interval that still excludes 0 or lies inside the smallest effect.
double deciding_half_width(double difference, double smallest_effect) {
  const double inside = std::min(std::log1p(smallest_effect) - difference, difference - std::log1p(-smallest_effect));
  return std::max(std::abs(difference), inside);
}

}  // namespace

double BlocksNeeded::critical_value(std::int64_t num_blocks) {
  const auto found = critical_values_.find(num_blocks);
  if (found != critical_values_.end()) return found->second;
  return critical_values_[num_blocks] = design_.critical_value_of(num_blocks);
}

double BlocksNeeded::half_width(const stats::ArmDifference& arm, std::int64_t num_own_blocks, std::int64_t num_blocks) {
  return arm.half_width * critical_value(num_blocks) / design_.critical_value() *
         std::sqrt(static_cast<double>(num_own_blocks) / static_cast<double>(num_blocks));
}

std::optional<std::int64_t> BlocksNeeded::of(const stats::ArmDifference& arm, double smallest_effect, std::int64_t num_own_blocks) {
  const double wanted = deciding_half_width(arm.difference, smallest_effect);
  if (half_width(arm, num_own_blocks, kMostBlocks) >= wanted) return std::nullopt;
  // With the smallest critical value there is, and from there with one that is too large: the number lies between.
  const auto blocks_with = [&](double critical) {
    const double ratio = arm.half_width / wanted * critical / design_.critical_value();
    return static_cast<std::int64_t>(std::floor(static_cast<double>(num_own_blocks) * ratio * ratio)) + 1;
  };
  std::int64_t low = std::max(num_own_blocks + 1, blocks_with(critical_value(kMostBlocks)));
  std::int64_t high = std::max(low, blocks_with(critical_value(low)));
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (half_width(arm, num_own_blocks, middle) < wanted)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

}  // namespace rematch::rules
