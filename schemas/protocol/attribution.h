// Live bytes of a rank split by what they are: a role, and the recompute regions that were open at their allocation. Pure values.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "schemas/protocol/outcome.h"

namespace rematch::protocol {

struct AttributedBytes {
  Role role = Role::kTemporaries;
  std::string region;  // path of labels, outermost first: "moe/moe_act"; empty: outside every region
  std::int64_t bytes = 0;

  auto operator<=>(const AttributedBytes&) const = default;
};

// Sorted, each role and region once, none of 0 bytes.
using Attribution = std::vector<AttributedBytes>;

inline std::int64_t total_bytes(const Attribution& attribution) {
  std::int64_t total = 0;
  for (const AttributedBytes& part : attribution) total += part.bytes;
  return total;
}

}  // namespace rematch::protocol
