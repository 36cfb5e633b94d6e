// Words or sentences in one line. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rematch::base {

// "a, b"; "" of none.
inline std::string joined(const std::vector<std::string>& texts, std::string_view separator = ", ") {
  std::string line;
  for (const std::string& text : texts) {
    if (&text != &texts.front()) line += separator;
    line += text;
  }
  return line;
}

}  // namespace rematch::base
