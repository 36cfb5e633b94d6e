// The pages of the command line: every verb has examples that parse, exit codes that there are, and the manual page and README agree.
#include "orchestrator/cli/command_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>
#include <tuple>

#include "orchestrator/cli/command_line.h"
#include "orchestrator/cli/exit_codes.h"
#include "orchestrator/cli/man_page.h"
#include "orchestrator/cli/typed_words.h"
#include "orchestrator/cli/unknown_word.h"

namespace rematch::cli {
namespace {

// Words of a shell line without expansions; a blank in quotes does not part them.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  for (const char letter : line + " ") {
    if (quote == 0 && letter == ' ') {
      if (!word.empty()) words.push_back(unquoted(word));
      word.clear();
      continue;
    }
    if (letter == '\'' || letter == '"') quote = quote == letter ? 0 : quote == 0 ? letter : quote;
    word += letter;
  }
  return words;
}

// Of "something | rematch VERB ... > file" the words behind `rematch`.
std::vector<std::string> arguments_of(const std::string& example) {
  std::vector<std::string> words = words_of(example);
  words.erase(words.begin(), std::find(words.begin(), words.end(), "rematch"));
  words.erase(std::find_if(words.begin(), words.end(), [](const auto& word) { return word == "|" || word == ">"; }), words.end());
  if (!words.empty()) words.erase(words.begin());
  return words;
}

std::vector<VerbPage> shown_verbs() {
  std::vector<VerbPage> verbs = command_pages().verbs;
  std::erase_if(verbs, [](const VerbPage& verb) { return verb.is_hidden; });
  return verbs;
}

TEST(CommandPages, OfEveryVerbHaveExamplesThatParseAndExitCodesThatThereAre) {
  const auto verbs = shown_verbs();
  ASSERT_GE(verbs.size(), 18u);
  for (const VerbPage& verb : verbs) {
    EXPECT_FALSE(verb.examples.empty()) << verb.name;
    for (const std::string& example : verb.examples) {
      const auto words = arguments_of(example);
      EXPECT_EQ(usage_problem(words).value_or(""), "") << example;
      EXPECT_NE(std::find(words.begin(), words.end(), verb.name), words.end()) << "an example of another verb: " << example;
    }
    EXPECT_FALSE(verb.exits.empty()) << verb.name << " does not say its exit codes";
    const std::regex number("(^|[ ,;])([0-9]+) ");
    bool says_success = false;
    for (std::sregex_iterator found(verb.exits.begin(), verb.exits.end(), number), end; found != end; ++found) {
      const int code = std::stoi((*found)[2]);
      says_success = says_success || code == 0;
      EXPECT_TRUE(std::any_of(exit_codes().begin(), exit_codes().end(), [&](const auto& row) { return row.code == code; }))
          << verb.name << ": " << code;
    }
    EXPECT_TRUE(says_success) << verb.name << ": " << verb.exits;
  }
}

TEST(CommandPages, OfEveryOptionHaveADescriptionAndAName) {
  for (const VerbPage& verb : command_pages().verbs)
    for (const OptionPage& option : verb.options) {
      ASSERT_FALSE(option.names.empty()) << verb.name;
      EXPECT_FALSE(option.description.empty()) << verb.name << " " << option.names.back();
    }
}

TEST(CommandPages, TakeHelpVersionAndVerbosityWithEveryVerb) {
  for (const VerbPage& verb : shown_verbs()) {
    EXPECT_EQ(usage_problem({verb.name, "-V"}).value_or(""), "") << verb.name;
    EXPECT_EQ(usage_problem({verb.name, "--help"}).value_or(""), "") << verb.name;
    std::vector<std::string> words = arguments_of(verb.examples.at(0));
    for (const char* flag : {"-v", "-q"}) words.emplace_back(flag);
    EXPECT_EQ(usage_problem(words).value_or(""), "") << verb.name;
  }
}

TEST(CommandPages, ReadChoicesDefaultsAndPositionalsOfTheParser) {
  const ProgramPage program = command_pages();
  const VerbPage& report = *find_verb(program, "report");
  const OptionPage& format = *find_option(report.options, "--format");
  EXPECT_TRUE(format.takes_value);
  const OptionPage& units = *find_option(report.options, "--units");
  EXPECT_NE(std::find(units.choices.begin(), units.choices.end(), units.default_text), units.choices.end());
  EXPECT_NE(std::find(format.choices.begin(), format.choices.end(), "csv"), format.choices.end());
  EXPECT_FALSE(find_option(report.options, "--force")->takes_value);
  EXPECT_TRUE(find_option(report.options, "study")->is_positional);
  EXPECT_TRUE(find_verb(program, "work")->is_hidden);
}

TEST(UnknownWord, IsNamedWithTheNearestThatThereIs) {
  const ProgramPage program = command_pages();
  const auto said = [&](const std::vector<std::string>& words) { return unknown_word_message(program, words).value_or(""); };
  EXPECT_EQ(said({"-q", "statis"}), "'statis' is not a verb of rematch; did you mean 'status'?");
  EXPECT_EQ(said({"report", "--formt", "md"}), "'--formt' is not an option of rematch report; did you mean '--format'?");
  EXPECT_EQ(said({"report", "--formt=md"}), "'--formt' is not an option of rematch report; did you mean '--format'?");
  EXPECT_EQ(said({"xyzzyxyzzy"}), "'xyzzyxyzzy' is not a verb of rematch");
  EXPECT_EQ(said({"--workspace", "--odd", "query", "--sql", "--also-odd"}), "") << "values may look like options";
  EXPECT_EQ(said({"show", "--", "--not-an-option"}), "");
}

TEST(TypedWords, SayWhatStandsAtTheEnd) {
  const ProgramPage program = command_pages();
  const auto wanted = [&](const std::vector<std::string>& words) {
    const TypedWords typed = typed_words(program, words);
    return typed.wanted == nullptr ? std::string("-") : typed.wanted->names.back();
  };
  EXPECT_EQ(wanted({"rep"}), "-");
  EXPECT_EQ(wanted({"report", ""}), "study");
  EXPECT_EQ(wanted({"report", "-f", ""}), "--format");
  EXPECT_EQ(wanted({"report", "--format=m"}), "--format");
  EXPECT_EQ(wanted({"report", "--json", ""}), "study") << "a flag takes no value";
  EXPECT_EQ(wanted({"compare", "a", ""}), "against");
  EXPECT_EQ(wanted({"compare", "a", "b", ""}), "-");
  EXPECT_EQ(typed_words(program, {"--workspace", "w x", "report", "--study=s", ""}).workspace, "w x");
  const TypedWords two = typed_words(program, {"compare", "--db=a", "--against-db", "b", "--against-study", "t", "x", ""});
  EXPECT_EQ(std::tie(two.database, two.against_database, two.study, two.against_study),
            std::tuple(std::string("a"), std::string("b"), std::string(), std::string("t")));
  EXPECT_EQ(unquoted("'it'\\''s' \"a\\\"b\" c\\ d 'open"), "it's a\"b c d open");
}

TEST(ExitCodes, AreTheReadmesTable) {
  std::ifstream readme(REMATCH_SOURCE_DIR "/README.md");
  std::vector<std::string> rows;
  const std::regex row("\\| ([0-9]+) \\| (.*) \\|");
  bool is_there = false;
  for (std::string line; std::getline(readme, line);) {
    if (line.starts_with("## ")) is_there = line == "## Exit codes of `rematch`";
    if (std::smatch found; is_there && std::regex_match(line, found, row)) rows.push_back(found[1].str() + " " + found[2].str());
  }
  std::vector<std::string> wanted;
  for (const ExitCodeRow& each : exit_codes()) wanted.push_back(std::to_string(each.code) + " " + std::string(each.meaning));
  EXPECT_EQ(rows, wanted);
}

TEST(ManPage, HasEveryVerbOptionExampleAndExitCode) {
  const ProgramPage program = command_pages();
  const std::string page = man_page(program, "1.2.3");
  for (const char* part : {".TH REMATCH 1 ", ".SH SYNOPSIS", ".SH ENVIRONMENT", ".SH FILES", ".SH EXIT STATUS", ".SH SEE ALSO"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  for (const VerbPage& verb : shown_verbs()) {
    std::string heading = verb.name;
    for (auto dash = heading.find('-'); dash != std::string::npos; dash = heading.find('-', dash + 2)) heading.insert(dash, "\\");
    EXPECT_NE(page.find(".SS " + heading + "\n"), std::string::npos) << heading;
  }
  EXPECT_EQ(page.find(".SS work"), std::string::npos) << "what scripts start is not shown";
  for (const ExitCodeRow& row : exit_codes())
    EXPECT_NE(page.find("\\fB" + std::to_string(row.code) + "\\fR"), std::string::npos) << row.code;
}

}  // namespace
}  // namespace rematch::cli
