// `rematch status`: the studies of the workspace, how far each got, what is running here and in Slurm's jobs. Only looks.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ostream>

#include "orchestrator/cli/status_output.h"
#include "orchestrator/cli/study_status.h"
#include "orchestrator/cli/terminal.h"
#include "orchestrator/cli/until_interrupted.h"
#include "orchestrator/cli/verb.h"
#include "schemas/protocol/document_error.h"

namespace rematch::cli {

namespace {

class StatusVerb final : public Verb {
 public:
  std::string name() const override { return "status"; }
  std::string summary() const override { return "Show the studies of the workspace, how far each got, and what is running"; }

  void declare(CLI::App& app) override {
    auto* json = app.add_flag("--json", as_json_, "Print one JSON document");
    app.add_option("--watch", watch_s_, "Look again every so many seconds, 15 when none are given, until Ctrl-C")
        ->expected(0, 1)
        ->default_str("15")
        ->check(CLI::Range(1, 86'400))
        ->excludes(json);
    app.footer(
        "Examples:\n"
        "  rematch status\n"
        "  rematch status --watch 30\n"
        "  rematch status --json --workspace /scratch/runs\n"
        "Slurm is asked once a look, and only while a study has jobs.\n"
        "Exit: 0 also when there is no study, 8 when a study's plan or submission cannot be read.");
  }

  Exit run(const GlobalOptions& options, Streams streams) override {
    const auto client = slurm::make_client();
    try {
      return watch_s_ ? watch(options, *client, streams) : show(options, *client, streams, std::nullopt);
    } catch (const protocol::DocumentError& problem) {
      streams.err << "rematch: " << problem.what() << "\n";
      return Exit::kEnvironment;
    }
  }

 private:
  Exit show(const GlobalOptions& options, slurm::Client& client, Streams streams, const std::optional<TerminalSize>& size) const {
    const std::vector<StudyStatus> statuses = all_statuses(options.workspace, client);
    if (as_json_)
      streams.out << status_document(statuses).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    else if (statuses.empty())
      streams.err << "rematch: no study in " << options.workspace.string() << "; `rematch run SWEEP` makes one\n";
    else
      streams.out << status_table(statuses, size);
    streams.out.flush();
    return Exit::kOk;
  }

  // On a terminal in place and as large as it is then, elsewhere one table after another.
  Exit watch(const GlobalOptions& options, slurm::Client& client, Streams streams) const {
    constexpr const char* kClear = "\x1b[H\x1b[2J";
    const bool in_place = decide_terminal(facts_of_stdout(), "never").rewrites_lines;
    UntilInterrupted until;
    do {
      if (in_place) streams.out << kClear;
      show(options, client, streams, in_place ? std::optional(size_of_stdout()) : std::nullopt);
    } while (streams.out.good() && until.wait(std::chrono::seconds(*watch_s_)));
    return Exit::kOk;
  }

  bool as_json_ = false;
  std::optional<std::int64_t> watch_s_;
};

const VerbRegistrar<StatusVerb> registrar;

}  // namespace

}  // namespace rematch::cli
