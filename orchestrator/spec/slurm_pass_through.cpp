#include "orchestrator/spec/slurm_pass_through.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "orchestrator/spec/slurm_options.h"

namespace rematch::spec {

namespace {

struct OwnOption {
  std::string_view name;
  std::string_view reason;
};

constexpr std::string_view kNamesJobs = "a submission is found again by the name that rematch gives it";
constexpr std::string_view kNamesOutput = "the output belongs to the study's folder";
constexpr std::string_view kPlacesRanks = "launch.nodes and launch.ntasks-per-node say how many";
constexpr std::string_view kStartsRunner = "the script starts the runner of the study";
constexpr std::string_view kAnswers = "rematch reads what sbatch answers";
constexpr std::string_view kOneCluster = "jobs are followed in the cluster that sbatch talks to by itself";

constexpr OwnOption kSetForSbatch[] = {
    {"job-name", kNamesJobs},
    {"output", kNamesOutput},
    {"error", kNamesOutput},
    {"open-mode", kNamesOutput},
    {"input", kStartsRunner},
    {"wrap", kStartsRunner},
    {"export", "the runner and its ranks get the whole environment"},
    {"export-file", kStartsRunner},
    {"array", "launch.shape: array makes one, an element a block"},
    {"ntasks", kPlacesRanks},
    {"parsable", kAnswers},
    {"quiet", kAnswers},
    {"verbose", kAnswers},
    {"test-only", kAnswers},
    {"wait", "rematch follows its jobs itself"},
    {"help", kAnswers},
    {"usage", kAnswers},
    {"version", kAnswers},
    {"clusters", kOneCluster},
};

constexpr std::string_view kStepChannel = "the streams of a step are how its supervisors are spoken to";
constexpr std::string_view kOneSupervisor = "a step is one supervisor on each node";
constexpr OwnOption kSetForSrun[] = {
    {"nodes", kOneSupervisor},
    {"ntasks", kOneSupervisor},
    {"ntasks-per-node", kOneSupervisor},
    {"kill-on-bad-exit", kOneSupervisor},
    {"multi-prog", kOneSupervisor},
    {"input", kStepChannel},
    {"output", kStepChannel},
    {"error", kStepChannel},
    {"label", kStepChannel},
    {"pty", kStepChannel},
    {"export", "the ranks get the runner's whole environment"},
    {"jobid", "a step runs in the job of its runner"},
};

bool is_option_name(std::string_view name) {
  return name.size() > 1 &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == std::string_view::npos &&
         name.front() != '-';
}

std::string pass_through_problem(const std::string& name, std::span<const OwnOption> own) {
  if (!is_option_name(name)) return "wanted the long name of an option without dashes, such as nice; found '" + name + "'";
  const auto found = std::find_if(own.begin(), own.end(), [&](const OwnOption& option) { return option.name == name; });
  return found == own.end() ? "" : "'" + name + "' is set by rematch: " + std::string(found->reason);
}

}  // namespace

void check_pass_through(ParseState& state) {
  const auto refuse = [&](const std::string& key, const std::string& message) { state.refuse(state.place_of(key), key, message); };
  for (const auto& [name, text] : state.spec.slurm.pass_through) {
    const auto options = slurm_options();
    const std::string plain = name.rfind("no-", 0) == 0 ? name.substr(3) : name;
    const bool has_key = std::any_of(options.begin(), options.end(), [&](const SlurmOption& option) { return option.name == plain; });
    const std::string problem =
        has_key ? "'" + name + "' has a key of its own: write launch." + plain : pass_through_problem(name, kSetForSbatch);
    if (!problem.empty()) refuse("launch.slurm", problem);
  }
  for (const auto& [name, text] : state.spec.slurm.srun) {
    const std::string problem = pass_through_problem(name, kSetForSrun);
    if (!problem.empty()) refuse("launch.srun", problem);
  }
}

}  // namespace rematch::spec
