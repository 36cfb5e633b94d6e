// A field of RFC 4180's comma-separated values. Pure.
#pragma once

#include <string>

namespace rematch::report {

// In quotes when it must be.
inline std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string inner;
  for (const char c : text) inner += c == '"' ? std::string("\"\"") : std::string(1, c);
  return "\"" + inner + "\"";
}

}  // namespace rematch::report
