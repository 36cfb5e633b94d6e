// How many of a rank's routing choices each expert gets where no router chose. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace rematch::protocol {

// shares: of each expert, sum 1; empty: the same for all. By largest remainder, of equal ones the first: the rows add up to num_choices.
std::vector<std::int64_t> assumed_rows(std::int64_t num_choices, std::int64_t num_experts, const std::vector<double>& shares);

}  // namespace rematch::protocol
