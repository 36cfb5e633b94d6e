// Words of messages.
#pragma once

#include <string>
#include <vector>

namespace rematch::base {

// "a, b, c"
std::string joined(const std::vector<std::string>& names);

// Of a message that goes on with a list of stack frames, as c10d's do.
std::string first_line(const std::string& text);

}  // namespace rematch::base
