// `rematch supervise TRAINER ATTEMPT_FOLDER ATTEMPT [MASTER_PORT]`: the supervisor of one attempt. Hidden: launchers start it, nobody types
// it.
#include <CLI/CLI.hpp>

#include "orchestrator/cli/verb.h"
#include "orchestrator/launch/supervisor.h"

namespace rematch::cli {

namespace {

class SuperviseVerb final : public Verb {
 public:
  std::string name() const override { return launch::kSuperviseVerb; }
  std::string summary() const override { return "Supervise the ranks of one attempt; started by a launcher"; }

  void declare(CLI::App& app) override {
    app.group("");  // in no list of commands
    app.add_option("trainer", arguments_.trainer, "The trainer's program")->required();
    app.add_option("attempt_folder", arguments_.attempt_folder, "Holds trial.json; receives launch.json")->required();
    app.add_option("attempt", arguments_.attempt, "1-based number of the attempt")->required();
    app.add_option("master_port", arguments_.master_port, "Of one of several supervisors of a job step: where the ranks meet");
  }

  Exit run(const GlobalOptions&, Streams) override { return launch::supervise(arguments_) == 0 ? Exit::kOk : Exit::kInternal; }

 private:
  launch::SuperviseArguments arguments_;
};

const VerbRegistrar<SuperviseVerb> registrar;

}  // namespace

}  // namespace rematch::cli
