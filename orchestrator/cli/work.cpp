// `rematch work STUDY_FOLDER --submission NAME`: the runner of a submission inside its allocation. Hidden: batch scripts start it.
#include <time.h>

#include <CLI/CLI.hpp>
#include <array>
#include <filesystem>
#include <ostream>
#include <utility>
#include <vector>

#include "orchestrator/cli/progress.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/engine/held_signals.h"
#include "orchestrator/launch/launcher.h"
#include "orchestrator/launch/trainer.h"
#include "orchestrator/slurm/runner.h"

namespace rematch::cli {

namespace {

// Lines of a job's output file: each whole, with the time at which it was written, in UTC.
class StampedLog final : public engine::Listener {
 public:
  explicit StampedLog(std::ostream& out) : out_(out) {}

  void trial_started(const engine::TrialPlace& place) override { print(place_text(place) + ": started, trial " + place.trial.trial_id); }
  void trial_progressed(const engine::TrialPlace&, const engine::TrialProgress&) override {}  // rank logs and records have it
  void trial_ended(const engine::TrialPlace& place, const base::AttemptRows& attempt) override {
    const auto seconds = seconds_of(attempt);
    print(place_text(place) + ": " + ending_text(attempt) + (seconds ? " (" + duration_text(*seconds) + ")" : ""));
  }
  void remarked(const std::string& message) override { print("rematch: " + message); }

 private:
  void print(const std::string& line) {
    const time_t now = ::time(nullptr);
    struct tm utc {};
    ::gmtime_r(&now, &utc);
    std::array<char, 32> stamp{};
    std::strftime(stamp.data(), stamp.size(), "%Y-%m-%dT%H:%M:%SZ ", &utc);
    out_ << stamp.data() + line + "\n" << std::flush;
  }

  std::ostream& out_;
};

Exit exit_of(protocol::RunnerEnd end) {
  switch (end) {
    case protocol::RunnerEnd::kComplete:
    case protocol::RunnerEnd::kControlRefuted: return Exit::kOk;
    case protocol::RunnerEnd::kInterrupted:
    case protocol::RunnerEnd::kRequeued:
    case protocol::RunnerEnd::kSuperseded: return Exit::kInterrupted;
    case protocol::RunnerEnd::kTrialsLeft:
    case protocol::RunnerEnd::kFailed: break;
  }
  return Exit::kEnvironment;
}

class WorkVerb final : public Verb {
 public:
  std::string name() const override { return "work"; }
  std::string summary() const override {
    return "Carry out a submission's part of a study, inside its allocation; started by batch scripts";
  }

  void declare(CLI::App& app) override {
    app.group("");  // in no list of commands
    app.add_option("study_folder", arguments_.study_folder, "The study's folder in the workspace")->required();
    app.add_option("--submission", arguments_.submission, "The submission's name")->required();
    app.add_option("--launcher", arguments_.launcher, "What starts the trials; else local on one node without --srun, srun otherwise")
        ->check(CLI::IsMember(launch::launcher_names()));
    app.add_option("--srun", srun_, "An option of each job step, NAME=VALUE or NAME, without dashes; may be repeated")
        ->allow_extra_args(false);
    app.footer("Exit: 0 its part is complete or the control is refuted, 8 environment, 75 interrupted, requeued, cancelled or superseded.");
  }

  Exit run(const GlobalOptions& options, Streams streams) override {
    const engine::HeldSignals held;
    StampedLog log(streams.err);
    const auto trainer = launch::locate_trainer(options.trainer);
    if (!trainer) {
      log.remarked(trainer.error().message);
      return Exit::kEnvironment;
    }
    arguments_.trainer = trainer.value();
    arguments_.workspace = std::filesystem::absolute(options.workspace);
    arguments_.study_folder = std::filesystem::absolute(arguments_.study_folder);
    for (const std::string& text : srun_) arguments_.srun.push_back(name_and_value(text));
    const auto client = slurm::make_client();
    const slurm::RunnerResult result = slurm::run_submission(arguments_, *client, log);
    log.remarked(std::string(protocol::to_string(result.end)) + (result.message.empty() ? "" : ": " + result.message));
    return exit_of(result.end);
  }

 private:
  // "mpi=none", or a flag's name alone.
  static std::pair<std::string, std::string> name_and_value(const std::string& text) {
    const auto equals = text.find('=');
    return {text.substr(0, equals), equals == std::string::npos ? "" : text.substr(equals + 1)};
  }

  slurm::RunnerArguments arguments_;
  std::vector<std::string> srun_;
};

const VerbRegistrar<WorkVerb> registrar;

}  // namespace

}  // namespace rematch::cli
