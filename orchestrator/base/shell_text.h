// Words as a shell wants them. Pure.
#pragma once

#include <string>
#include <vector>

namespace rematch::base {

// As it is where a shell takes it so, else in single quotes.
std::string shell_quoted(const std::string& word);

// The command as it would be typed.
std::string shell_command(const std::vector<std::string>& words);

}  // namespace rematch::base
