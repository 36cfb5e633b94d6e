#include "orchestrator/spec/slurm_checks.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "orchestrator/spec/keys.h"
#include "orchestrator/spec/nearest.h"
#include "orchestrator/spec/slurm_options.h"

namespace rematch::spec {

namespace {

constexpr const char* kWorldSize = "parallel.world_size";
constexpr const char* kRanksPerNode = "launch.ranks_per_node";
constexpr const char* kNodes = "launch.nodes";
constexpr const char* kTasksPerNode = "launch.ntasks-per-node";

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

bool is_slurm(const ParseState& state) { return state.spec.launch_kind == "slurm"; }

std::string number(std::int64_t value) { return std::to_string(value); }

std::string find_option(const ParseState& state, const std::string& name) {
  for (const auto& [key, text] : state.spec.slurm.options)
    if (key == name) return text;
  return "";
}

std::optional<std::int64_t> count_of(const ParseState& state, const std::string& name) {
  const std::string text = find_option(state, name);
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc{} ? std::optional(count) : std::nullopt;
}

void check_local_ranks(ParseState& state) {
  const std::int64_t world_size = state.spec.common.parallel.world_size;
  if (state.spec.ranks_per_node == 0 || state.spec.ranks_per_node >= world_size) return;
  state.refuse_first(
      {kRanksPerNode},
      "a local launch has one node, so wanted world_size (" + number(world_size) + ") or more; found " + number(state.spec.ranks_per_node) +
          "; on a Slurm cluster write launch.kind: slurm (--launcher slurm), which spreads them over nodes; for other hosts leave it out, "
          "let `rematch run` prepare the trial folder on storage that all hosts see, and start each rank there by `rematch-train --trial "
          "FOLDER/trial.json`, under torchrun's variables RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT");
}

void warn_of_unused(ParseState& state) {
  std::vector<std::string> unused;
  for (const KeyRow& row : key_rows())
    if (row.of_slurm && state.places.contains(row.key)) unused.push_back(row.key.substr(std::string("launch.").size()));
  if (unused.empty()) return;
  const std::string first = "launch." + unused.front();
  state.warnings.push_back(make_diagnostic(state.place_of(first), first,
                                           join(unused, ", ") + (unused.size() == 1 ? " is" : " are") +
                                               " not used: launch.kind is local; write launch.kind: slurm (--launcher slurm) to submit"));
}

// How many ranks the sweep puts on a node; null: it does not say.
std::optional<std::int64_t> written_ranks_per_node(ParseState& state) {
  const std::optional<std::int64_t> tasks = count_of(state, "ntasks-per-node");
  const std::int64_t ranks = state.spec.ranks_per_node;
  if (ranks != 0 && tasks && *tasks != ranks)
    state.refuse_first({kTasksPerNode},
                       "says the same as ranks_per_node (" + number(ranks) + "); found " + number(*tasks) + "; write one of them");
  if (tasks) return tasks;
  return ranks == 0 ? std::nullopt : std::optional(ranks);
}

std::string spread_problem(std::int64_t world_size, std::optional<std::int64_t> nodes, std::optional<std::int64_t> ranks) {
  if (nodes && ranks && *nodes * *ranks != world_size)
    return "wanted nodes * ranks_per_node = world_size; found " + number(*nodes) + " * " + number(*ranks) + " = " +
           number(*nodes * *ranks) + ", and world_size " + number(world_size);
  if (nodes && !ranks && world_size % *nodes != 0)
    return "wanted nodes that share world_size (" + number(world_size) + ") evenly; found " + number(*nodes);
  if (ranks && !nodes && world_size % *ranks != 0)
    return "wanted ranks_per_node that divide world_size (" + number(world_size) + "); found " + number(*ranks);
  return "";
}

void spread_over_nodes(ParseState& state) {
  if (!state.sound({kWorldSize, kNodes, kTasksPerNode, kRanksPerNode})) return;
  const std::int64_t world_size = state.spec.common.parallel.world_size;
  const std::optional<std::int64_t> nodes = count_of(state, "nodes");
  std::optional<std::int64_t> ranks = written_ranks_per_node(state);
  if (ranks && !nodes) ranks = std::min(*ranks, world_size);  // room on one node for more ranks than there are
  const std::string problem = spread_problem(world_size, nodes, ranks);
  if (!problem.empty()) return state.refuse_first({kNodes, kTasksPerNode, kRanksPerNode}, problem);
  SlurmSpec& slurm = state.spec.slurm;
  slurm.num_nodes = nodes.value_or(ranks ? world_size / *ranks : 1);
  slurm.ranks_per_node = world_size / slurm.num_nodes;
}

// "a100:4" -> 4; null where it is not of that form.
std::optional<std::int64_t> devices_of(std::string_view text) {
  text = text.substr(text.rfind(':') + 1);
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(count) : std::nullopt;
}

void check_devices(ParseState& state) {
  const SlurmSpec& slurm = state.spec.slurm;
  const auto devices = devices_of(find_option(state, "gpus-per-node"));
  if (!devices || state.spec.common.backend.device != "cuda" || *devices >= slurm.ranks_per_node) return;
  state.refuse_first({"launch.gpus-per-node"}, "each rank has a GPU of its own, so wanted at least " + number(slurm.ranks_per_node) +
                                                   " for the ranks of a node; found " + number(*devices));
}

// [{R|B}:]NAME[@SECONDS], of which the runner knows USR1 to the batch shell.
bool is_runner_signal(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || text.substr(0, colon).find('B') == std::string_view::npos) return false;
  text.remove_prefix(colon + 1);
  const std::string_view name = text.substr(0, text.find('@'));
  return name == "USR1" || name == "SIGUSR1" || name == "10";
}

void check_signal(ParseState& state) {
  const std::string signal = find_option(state, "signal");
  if (signal.empty() || is_runner_signal(signal)) return;
  state.refuse_first({"launch.signal"},
                     "wanted B:USR1@SECONDS, the signal by which the runner learns that the time limit is near; found '" + signal + "'");
}

void check_throttle(ParseState& state) {
  if (!state.spec.slurm.throttle || state.spec.slurm.shape == "array" || !state.sound({"launch.throttle", "launch.shape"})) return;
  state.refuse_first({"launch.throttle"},
                     "is for shape array, whose elements it lets run at a time; found shape " + state.spec.slurm.shape);
}

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

}  // namespace

void check_launch(ParseState& state) {
  if (!state.sound({"launch.kind"})) return;
  if (!is_slurm(state)) {
    if (state.sound({kWorldSize, kRanksPerNode})) check_local_ranks(state);
    warn_of_unused(state);
    return;
  }
  spread_over_nodes(state);
  if (state.sound({kNodes, kTasksPerNode, kRanksPerNode, "launch.gpus-per-node"})) check_devices(state);
  check_signal(state);
  check_throttle(state);
  check_pass_through(state);
  if (state.use == SweepUse::kSimulate) state.spec.launch_kind = "local";  // a simulation runs where it is started
}

}  // namespace rematch::spec
