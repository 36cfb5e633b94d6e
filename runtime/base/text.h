// Words of messages.
#pragma once

#include <string>
#include <vector>

namespace rematch::base {

// "a, b, c"
std::string joined(const std::vector<std::string>& names);

}  // namespace rematch::base
