#include "orchestrator/slurm/client.h"

#include "orchestrator/launch/find_program.h"
#include "orchestrator/launch/process.h"

namespace rematch::slurm {

namespace {

class ProgramClient final : public Client {
 public:
  base::Result<Answer> call(const std::vector<std::string>& command, std::chrono::milliseconds deadline) override {
    const auto program = launch::find_program(command.front());
    if (!program)
      return base::Error{"Slurm's " + command.front() + " is not on PATH. Run where Slurm's client commands are, such as a login node"};
    launch::ProcessSpec spec;
    spec.program = *program;
    spec.arguments = {command.begin() + 1, command.end()};
    spec.environment = {{"LC_ALL", "C"}, {"SLURM_TIME_FORMAT", "standard"}};
    const auto captured = launch::run_captured(spec, deadline, launch::Capture::kOutputAndErrors);
    if (!captured) return captured.error();
    const launch::ProcessEnd& end = captured.value().end;
    return Answer{end.exit_code.value_or(128 + end.signal.value_or(0)), captured.value().text, captured.value().error_text};
  }
};

}  // namespace

std::unique_ptr<Client> make_client() { return std::make_unique<ProgramClient>(); }

}  // namespace rematch::slurm
