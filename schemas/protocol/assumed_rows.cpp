#include "schemas/protocol/assumed_rows.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace rematch::protocol {

namespace {

std::vector<std::int64_t> apportioned(std::int64_t total, const std::vector<double>& shares) {
  std::vector<std::int64_t> counts;
  std::vector<double> remainders;
  for (const double share : shares) {
    const double quota = share * static_cast<double>(total);
    counts.push_back(static_cast<std::int64_t>(quota));
    remainders.push_back(quota - static_cast<double>(counts.back()));
  }
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  const auto left = static_cast<std::size_t>(total - std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  for (std::size_t i = 0; i < left; ++i) ++counts[order[i]];
  return counts;
}

}  // namespace

std::vector<std::int64_t> assumed_rows(std::int64_t num_choices, std::int64_t num_experts, const std::vector<double>& shares) {
  if (!shares.empty()) return apportioned(num_choices, shares);
  return apportioned(num_choices, std::vector<double>(static_cast<std::size_t>(num_experts), 1.0 / static_cast<double>(num_experts)));
}

}  // namespace rematch::protocol
