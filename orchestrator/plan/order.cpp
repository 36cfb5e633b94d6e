#include "orchestrator/plan/order.h"

#include <limits>
#include <utility>

namespace rematch::plan {

namespace {

class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }

  // Uniform on 0..bound-1: draws from the incomplete last span are thrown away.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t limit = std::numeric_limits<std::uint64_t>::max() / bound * bound;
    std::uint64_t draw = next();
    while (draw >= limit) draw = next();
    return draw % bound;
  }

 private:
  std::uint64_t state_;
};

}  // namespace

std::vector<std::vector<std::size_t>> block_orders(std::int64_t num_blocks, std::size_t num_candidates, std::uint64_t seed) {
  SplitMix64 random(seed);
  std::vector<std::vector<std::size_t>> orders;
  for (std::int64_t block = 0; block < num_blocks; ++block) {
    std::vector<std::size_t> order = {0};
    for (std::size_t arm = 0; arm <= num_candidates; ++arm) order.push_back(arm);
    for (std::size_t last = order.size() - 1; last > 0; --last) std::swap(order[last], order[random.below(last + 1)]);
    orders.push_back(std::move(order));
  }
  return orders;
}

}  // namespace rematch::plan
