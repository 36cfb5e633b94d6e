// Order: in which sequence the arms of a block run. Seeded and written out by hand, so that it is the same with every library. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rematch::plan {

// One vector a block: 0 is the control and stands there twice, 1..num_candidates once each, shuffled anew in every block.
std::vector<std::vector<std::size_t>> block_orders(std::int64_t num_blocks, std::size_t num_candidates, std::uint64_t seed);

}  // namespace rematch::plan
