// Text inside of HTML and inline SVG. Pure.
#pragma once

#include <string>
#include <string_view>

namespace rematch::report {

// For the content of elements and for attributes in double quotes. Control characters, which no document may have, become U+FFFD.
std::string escaped_html(std::string_view text);

// ` name="value"`, the value escaped.
std::string attribute(std::string_view name, std::string_view value);

}  // namespace rematch::report
