// `rematch man`: the manual page, for the build. `man rematch` shows it once it is installed.
#include <CLI/CLI.hpp>
#include <ostream>

#include "orchestrator/cli/man_page.h"
#include "orchestrator/cli/verb.h"

namespace rematch::cli {

namespace {

class ManVerb final : public Verb {
 public:
  std::string name() const override { return "man"; }
  std::string summary() const override { return "Print the manual page, in man macros"; }

  void declare(CLI::App& app) override {
    app.group("");  // in no list of commands
    app_ = &app;
    app.footer("Exit: 0 printed.");
  }

  Exit run(const GlobalOptions&, Streams streams) override {
    streams.out << man_page(program_page(*app_->get_parent()), REMATCH_VERSION);
    return Exit::kOk;
  }

 private:
  CLI::App* app_ = nullptr;
};

const VerbRegistrar<ManVerb> registrar;

}  // namespace

}  // namespace rematch::cli
