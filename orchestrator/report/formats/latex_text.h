// Text for LaTeX: every character that it reads as a command is written so that it prints itself. Latin letters and common signs print as
// such with the fonts of plain LaTeX, any other character as its code point ("U+65E5"). Pure.
#pragma once

#include <string>
#include <string_view>

namespace rematch::report {

enum class LineBreaks {
  kAtSpaces,
  kAtSigns,  // after / _ + = too, for paths and commands in paragraphs
};

// One paragraph: line ends and control characters become spaces. Bytes that are no UTF-8 print as "U+FFFD".
std::string latex_text(std::string_view text, LineBreaks breaks = LineBreaks::kAtSpaces);

}  // namespace rematch::report
