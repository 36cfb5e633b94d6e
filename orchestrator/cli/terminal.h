// What stderr or stdout is, and what may be done with it: colours, rewritten lines. Decided once, from --color, NO_COLOR, TERM and isatty.
#pragma once

#include <string>
#include <string_view>

namespace rematch::cli {

struct TerminalFacts {
  bool is_terminal = false;
  std::string term;       // TERM
  bool no_color = false;  // NO_COLOR is set and not empty
  int num_columns = 80;
};

struct Terminal {
  bool rewrites_lines = false;
  bool has_color = false;
  int num_columns = 80;
};

// The width of stderr's terminal as it is now: a user may have resized it. 80 where that is not known.
int columns_of_stderr();
struct TerminalSize {
  int num_columns = 80;
  int num_rows = 24;
};
TerminalSize size_of_stdout();

TerminalFacts facts_of_stderr();
TerminalFacts facts_of_stdout();
// `color` is auto, always or never. Pure.
Terminal decide_terminal(const TerminalFacts& facts, std::string_view color);

enum class Tone { kGood, kBad, kFaint };
std::string toned(std::string_view text, Tone tone, const Terminal& terminal);

}  // namespace rematch::cli
