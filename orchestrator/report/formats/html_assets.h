// The style sheet and the script that every HTML report carries.
#pragma once

#include <string_view>

namespace rematch::report {

std::string_view html_style();
// Sorts tables and opens all details for printing; nothing else needs it.
std::string_view html_script();
// Of html_script(), as a Content-Security-Policy names it: no other script runs.
std::string_view html_script_hash();

}  // namespace rematch::report
