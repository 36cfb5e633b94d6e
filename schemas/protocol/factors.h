// A product of named sizes, as rules on degrees, batches and model fields have it. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rematch::protocol {

struct Factor {
  std::string name;
  std::int64_t size;  // at least 1
};

// Whether the product of all sizes divides `value`; the product itself may overflow.
bool divides_all(std::int64_t value, const std::vector<Factor>& factors);

// "a 2 * b 3"
std::string product_text(const std::vector<Factor>& factors);

}  // namespace rematch::protocol
