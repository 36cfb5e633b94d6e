#include "runtime/base/hash.h"

namespace rematch::base {

std::uint64_t fnv1a(const void* bytes, std::size_t count, std::uint64_t start) {
  constexpr std::uint64_t kPrime = 1099511628211ULL;
  const auto* byte = static_cast<const unsigned char*>(bytes);
  std::uint64_t hash = start;
  for (std::size_t i = 0; i < count; ++i) hash = (hash ^ byte[i]) * kPrime;
  return hash;
}

}  // namespace rematch::base
