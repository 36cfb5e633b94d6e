// `rematch help VERB`: the same as `rematch VERB --help`.
#include <CLI/CLI.hpp>
#include <ostream>

#include "orchestrator/cli/command_pages.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/spec/nearest.h"

namespace rematch::cli {

namespace {

class HelpVerb final : public Verb {
 public:
  std::string name() const override { return "help"; }
  std::string summary() const override { return "Show the help of a verb, or of the program"; }

  void declare(CLI::App& app) override {
    app_ = &app;
    app.add_option("verb", verb_, "Whose");
    app.footer(
        "Examples:\n"
        "  rematch help\n"
        "  rematch help report\n"
        "`rematch VERB --help` shows the same; `rematch explain NAME` has the pages of labels, rules and warnings.\n"
        "Exit: 0 shown, 2 no such verb.");
  }

  Exit run(const GlobalOptions&, Streams streams) override {
    const CLI::App& program = *app_->get_parent();
    if (verb_.empty()) {
      streams.out << program.help();
      return Exit::kOk;
    }
    const ProgramPage pages = program_page(program);
    if (find_verb(pages, verb_) == nullptr) {
      streams.err << "rematch: " << spec::unknown_name_message(verb_, "a verb", verb_names(pages)) << "\n";
      return Exit::kUsage;
    }
    streams.out << program.get_subcommand(verb_)->help(program.get_name());
    return Exit::kOk;
  }

 private:
  CLI::App* app_ = nullptr;
  std::string verb_;
};

const VerbRegistrar<HelpVerb> registrar;

}  // namespace

}  // namespace rematch::cli
