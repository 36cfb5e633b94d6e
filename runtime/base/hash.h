// FNV-1a, 64 bits: seeds from names, and gradients compared byte by byte. Not for anything hostile.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rematch::base {

inline constexpr std::uint64_t kFnvStart = 14695981039346656037ULL;

std::uint64_t fnv1a(const void* bytes, std::size_t count, std::uint64_t start = kFnvStart);

}  // namespace rematch::base
