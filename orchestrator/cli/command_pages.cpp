#include "orchestrator/cli/command_pages.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

namespace rematch::cli {

namespace {

constexpr std::string_view kExamples = "Examples:";
constexpr std::string_view kExit = "Exit: ";

// "TEXT:{md,csv}" has the choices md and csv.
std::vector<std::string> choices_in(const std::string& type) {
  const auto open = type.find('{');
  const auto close = type.rfind('}');
  std::vector<std::string> choices;
  if (open == std::string::npos || close == std::string::npos || close < open) return choices;
  std::istringstream words(type.substr(open + 1, close - open - 1));
  for (std::string word; std::getline(words, word, ',');) choices.push_back(word);
  return choices;
}

OptionPage option_page(const CLI::Option& option) {
  OptionPage page;
  page.is_positional = option.nonpositional() == false;
  if (page.is_positional) page.names.push_back(option.get_single_name());
  for (const std::string& name : option.get_snames()) page.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) page.names.push_back("--" + name);
  page.description = option.get_description();
  page.takes_value = option.get_items_expected_max() > 0;
  page.value_may_be_left_out = page.takes_value && option.get_items_expected_min() == 0;
  const std::string type = option.get_type_name();
  page.choices = choices_in(type);
  page.type = page.takes_value ? type.substr(0, type.find_first_of(":{ ")) : "";
  page.default_text = option.get_default_str();
  page.is_required = option.get_required();
  return page;
}

std::vector<OptionPage> options_of(const CLI::App& app) {
  std::vector<OptionPage> pages;
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) pages.push_back(option_page(*option));
  return pages;
}

// A footer is "Examples:", indented command lines, remarks, and a last sentence that begins with "Exit: ".
void read_footer(const std::string& footer, VerbPage& page) {
  std::istringstream lines(footer);
  std::string* text = nullptr;
  for (std::string line; std::getline(lines, line);) {
    if (line == kExamples) continue;
    if (text == nullptr && line.starts_with("  ")) {
      page.examples.push_back(line.substr(2));
      continue;
    }
    if (text == nullptr) text = &page.remarks;
    if (line.starts_with(kExit)) text = &page.exits;
    if (!text->empty()) *text += "\n";
    *text += text == &page.exits && line.starts_with(kExit) ? line.substr(kExit.size()) : line;
  }
}

VerbPage verb_page(const CLI::App& app) {
  VerbPage page;
  page.name = app.get_name();
  page.summary = app.get_description();
  page.is_hidden = app.get_group().empty();
  page.options = options_of(app);
  read_footer(app.get_footer(), page);
  return page;
}

}  // namespace

ProgramPage program_page(const CLI::App& app) {
  ProgramPage program{app.get_description(), options_of(app), {}};
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) program.verbs.push_back(verb_page(*verb));
  return program;
}

const VerbPage* find_verb(const ProgramPage& program, const std::string& name) {
  const auto verb = std::find_if(program.verbs.begin(), program.verbs.end(), [&](const VerbPage& each) { return each.name == name; });
  return verb == program.verbs.end() ? nullptr : &*verb;
}

std::vector<std::string> verb_names(const ProgramPage& program) {
  std::vector<std::string> names;
  for (const VerbPage& verb : program.verbs)
    if (!verb.is_hidden) names.push_back(verb.name);
  return names;
}

const OptionPage* find_option(const std::vector<OptionPage>& options, const std::string& name) {
  const auto option = std::find_if(options.begin(), options.end(), [&](const OptionPage& each) {
    return std::find(each.names.begin(), each.names.end(), name) != each.names.end();
  });
  return option == options.end() ? nullptr : &*option;
}

std::vector<std::string> option_names(const ProgramPage& program, const VerbPage* verb) {
  std::vector<std::string> names;
  const auto add = [&names](const std::vector<OptionPage>& options) {
    for (const OptionPage& option : options)
      if (!option.is_positional) names.insert(names.end(), option.names.begin(), option.names.end());
  };
  if (verb != nullptr) add(verb->options);
  add(program.options);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace rematch::cli
