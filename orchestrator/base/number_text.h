// Numbers as sentences of reasons and findings say them; tables have cells of their own. Pure.
#pragma once

#include <cstdint>
#include <string>

namespace rematch::base {

std::string bytes_text(std::int64_t bytes);         // "36618000000 bytes"
std::string signed_bytes_text(std::int64_t bytes);  // "+5 bytes", "-5 bytes", "0 bytes"
std::string percent_text(double fraction);          // "+1.99 %"

}  // namespace rematch::base
