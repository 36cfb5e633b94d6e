#include "orchestrator/base/number_text.h"

#include <array>
#include <cstdio>

namespace rematch::base {

std::string bytes_text(std::int64_t bytes) { return std::to_string(bytes) + " bytes"; }

std::string signed_bytes_text(std::int64_t bytes) { return (bytes > 0 ? "+" : "") + bytes_text(bytes); }

std::string percent_text(double fraction) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%+.2f %%", 100 * fraction);
  return text.data();
}

}  // namespace rematch::base
