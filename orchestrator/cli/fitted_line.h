// One line of a terminal, made of parts of which the least important give way first. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orchestrator/cli/terminal.h"

namespace rematch::cli {

struct LinePart {
  std::string text = {};
  std::string brief = {};   // where room is short; empty: the text itself
  int weight = 0;           // the part with the least goes first
  int group = 0;            // parts of a group are joined by a comma, a group to the one before by a colon
  bool may_be_cut = false;  // before anything else goes, as long as something of it is left to read
  std::optional<Tone> tone = std::nullopt;
};

using Line = std::vector<LinePart>;

// All of it, however long.
std::string whole_line(const Line& line, const Terminal& terminal);
// At most so many columns, escapes not counted.
std::string fitted_line(const Line& line, int num_columns, const Terminal& terminal);

}  // namespace rematch::cli
