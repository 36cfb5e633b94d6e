#include "orchestrator/base/hash.h"

#include <cstdint>

namespace rematch::base {

std::string content_hash(std::string_view content) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char byte : content) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 1099511628211ULL;
  }
  std::string digits(16, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, hash >>= 4) *digit = "0123456789abcdef"[hash & 0xF];
  return digits;
}

}  // namespace rematch::base
