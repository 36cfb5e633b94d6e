// What a command line that is still being typed asks for at its end. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orchestrator/cli/command_pages.h"

namespace rematch::cli {

struct TypedWords {
  const VerbPage* verb = nullptr;
  const OptionPage* wanted = nullptr;  // whose value is typed: an option's, or a positional's; nullptr: a verb or an option itself
  std::string prefix;                  // "--study=" where the value stands in the same word
  std::string word;                    // the value so far
  std::string workspace;               // empty: none was typed
  std::string study;                   // of --study
  std::string against_study;           // of --against-study
  std::string database;                // of --db, the last of several
  std::string against_database;        // of --against-db
  bool may_be_option = true;           // nothing said that no option follows
};

// `words` are those behind the program's name, without quotes; the last is the one that is typed, which may be empty.
TypedWords typed_words(const ProgramPage& program, const std::vector<std::string>& words);

// The word as a POSIX shell would read it; an open quote ends with the word.
std::string unquoted(const std::string& word);

}  // namespace rematch::cli
