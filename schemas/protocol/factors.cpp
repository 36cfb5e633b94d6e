#include "schemas/protocol/factors.h"

namespace rematch::protocol {

bool divides_all(std::int64_t value, const std::vector<Factor>& factors) {
  for (const Factor& factor : factors) {
    if (value % factor.size != 0) return false;
    value /= factor.size;
  }
  return true;
}

std::string product_text(const std::vector<Factor>& factors) {
  std::string text;
  for (const Factor& factor : factors) text += (text.empty() ? "" : " * ") + factor.name + " " + std::to_string(factor.size);
  return text;
}

}  // namespace rematch::protocol
