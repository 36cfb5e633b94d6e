// The shortest text that reads back as the same double. Used by formats that machines read.
#pragma once

#include <array>
#include <charconv>
#include <string>

namespace rematch::report {

inline std::string number_text(double value) {
  std::array<char, 40> buffer{};
  const std::to_chars_result result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return std::string(buffer.data(), result.ptr);
}

}  // namespace rematch::report
