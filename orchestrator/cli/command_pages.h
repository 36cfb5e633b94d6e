// The command line as values: every verb with its options, examples and exit codes, read out of the CLI11 app that parses it. Help, man
// page and completion are made of them, so that nothing is listed twice. Pure.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace rematch::cli {

struct OptionPage {
  std::vector<std::string> names;  // "-f", "--format"; of a positional one name without dashes
  std::string description;
  std::vector<std::string> choices;  // of fixed ones; empty: any text
  std::string type;                  // "TEXT", "INT"; empty of a flag
  std::string default_text;
  bool is_positional = false;
  bool is_required = false;
  bool takes_value = false;  // a flag takes none
  bool value_may_be_left_out = false;
};

struct VerbPage {
  std::string name;
  std::string summary;
  std::vector<std::string> examples;  // whole command lines
  std::string remarks;                // what stands behind the examples; lines may be joined
  std::string exits;                  // "0 shown, 2 no such study"
  std::vector<OptionPage> options;
  bool is_hidden = false;  // started by scripts, in no list
};

struct ProgramPage {
  std::string summary;
  std::vector<OptionPage> options;  // before or behind any verb
  std::vector<VerbPage> verbs;      // by name, hidden ones too
};

ProgramPage program_page(const CLI::App& app);

// nullptr: there is none of that name.
const VerbPage* find_verb(const ProgramPage& program, const std::string& name);
// Without those that are in no list.
std::vector<std::string> verb_names(const ProgramPage& program);
const OptionPage* find_option(const std::vector<OptionPage>& options, const std::string& name);

// All names of options of the verb and of the program, with dashes.
std::vector<std::string> option_names(const ProgramPage& program, const VerbPage* verb);

}  // namespace rematch::cli
