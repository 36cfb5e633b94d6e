// `rematch complete --shell SHELL -- WORDS`: what can stand at the end of a command line, for the scripts of `rematch completion`. A line
// "files KIND" where the shell lists files, and "candidate TEXT", with a tab and a description where there is one. Silent where it fails.
#include <CLI/CLI.hpp>
#include <exception>
#include <ostream>

#include "orchestrator/cli/candidates.h"
#include "orchestrator/cli/verb.h"

namespace rematch::cli {

namespace {

const char* to_string(Files files) {
  switch (files) {
    case Files::kNone: return "none";
    case Files::kSweeps: return "sweeps";
    case Files::kTables: return "tables";
    case Files::kFolders: return "folders";
    case Files::kAny: return "any";
  }
  return "";
}

bool is_one_line(const std::string& text) { return text.find_first_of("\n\r\t") == std::string::npos; }

class CompleteVerb final : public Verb {
 public:
  std::string name() const override { return "complete"; }
  std::string summary() const override { return "Print what can stand at the end of a command line; started by completion scripts"; }

  void declare(CLI::App& app) override {
    app.group("");  // in no list of commands
    app_ = &app;
    app.add_option("--shell", shell_, "Which asks: bash hands words over with their quotes, fish wants whole words back")
        ->check(CLI::IsMember({"bash", "zsh", "fish"}))
        ->required();
    app.add_option("words", words_, "Behind the program's name; the last is being typed");
    app.footer("Exit: 0, also where there is nothing.");
  }

  Exit run(const GlobalOptions& options, Streams streams) override {
    try {
      print(options, streams);
    } catch (const std::exception&) {
      return Exit::kOk;  // a shell that completes has nobody to tell
    }
    return Exit::kOk;
  }

 private:
  void print(const GlobalOptions& options, Streams streams) const {
    std::vector<std::string> words = words_;
    if (shell_ == "bash")
      for (std::string& word : words) word = unquoted(word);
    if (shell_ == "fish" && !words.empty()) words.back() = unquoted(words.back());
    const ProgramPage program = program_page(*app_->get_parent());
    const TypedWords typed = typed_words(program, words);
    GlobalOptions typed_options = options;
    if (!typed.workspace.empty()) typed_options.workspace = typed.workspace;
    const Candidates found = candidates(program, typed, typed_options);
    streams.out << "files " << to_string(found.files) << "\n";
    for (const Candidate& each : found.list) {
      if (!is_one_line(each.text)) continue;
      streams.out << "candidate " << (shell_ == "fish" ? typed.prefix : "") << each.text;
      if (!each.description.empty() && is_one_line(each.description)) streams.out << "\t" << each.description;
      streams.out << "\n";
    }
  }

  CLI::App* app_ = nullptr;
  std::string shell_;
  std::vector<std::string> words_;
};

const VerbRegistrar<CompleteVerb> registrar;

}  // namespace

}  // namespace rematch::cli
