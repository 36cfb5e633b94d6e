// What is wrong with a command line that has a verb or an option that there is not: its name, and the nearest that there is. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orchestrator/cli/command_pages.h"

namespace rematch::cli {

// `words` are those behind the program's name, all of them whole. nullopt: every verb and long option is known.
std::optional<std::string> unknown_word_message(const ProgramPage& program, const std::vector<std::string>& words);

}  // namespace rematch::cli
