// The one content hash behind every id: FNV-1a, 64 bit. Same bytes, same id, on every machine. Pure.
#pragma once

#include <string>
#include <string_view>

namespace rematch::base {

// 16 lower-case hex digits.
std::string content_hash(std::string_view content);

}  // namespace rematch::base
