// How many columns of a terminal a text takes, and a text cut to so many. UTF-8; a byte that is none counts as one column. Pure.
#pragma once

#include <string>
#include <string_view>

namespace rematch::cli {

// Wide characters (East Asian, emoji) take two columns, combining marks none.
int display_width(std::string_view text);

// Whole characters only; what was cut ends in "..." where there is room for it.
std::string cut_to_width(std::string_view text, int num_columns);

// Control characters, which would move the cursor, as blanks.
std::string on_one_line(std::string_view text);

}  // namespace rematch::cli
