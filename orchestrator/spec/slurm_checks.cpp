#include "orchestrator/spec/slurm_checks.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "orchestrator/base/whole_number.h"
#include "orchestrator/spec/keys.h"
#include "orchestrator/spec/nearest.h"
#include "orchestrator/spec/slurm_pass_through.h"

namespace rematch::spec {

namespace {

constexpr const char* kWorldSize = "parallel.world_size";
constexpr const char* kRanksPerNode = "launch.ranks_per_node";
constexpr const char* kNodes = "launch.nodes";
constexpr const char* kTasksPerNode = "launch.ntasks-per-node";

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
          "; on a Slurm cluster write launch.kind: slurm (--launcher slurm), which spreads them over nodes; for several hosts without "
          "Slurm leave it out, "
          "let `rematch run` prepare the trial folder on storage that all hosts see, and start each rank there by `rematch-train --trial "
          "FOLDER/trial.json`, under torchrun's variables RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT");
}

void warn_of_unused(ParseState& state) {
  std::vector<std::string> unused;
  for (const KeyRow& row : key_rows())
    if (row.of_slurm && state.places.contains(row.key)) unused.push_back(row.key.substr(std::string("launch.").size()));
  if (unused.empty()) return;
  const std::string first = "launch." + unused.front();
  state.warnings.emplace_back(
      base::WarningId::kUnusedSlurmKeys,
      make_diagnostic(state.place_of(first), first,
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
std::optional<std::int64_t> devices_of(std::string_view text) { return base::whole_number(text.substr(text.rfind(':') + 1)); }

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

// Runs that are compared must have shared their nodes and devices, which jobs of their own do by chance alone.
void warn_of_jobs_apart(ParseState& state) {
  if (state.spec.slurm.shape != "trials") return;
  const std::string exclusive = find_option(state, "exclusive");
  if (!find_option(state, "nodelist").empty() && !exclusive.empty() && exclusive != "false") return;
  state.warnings.emplace_back(
      base::WarningId::kJobsApart,
      make_diagnostic(state.place_of("launch.shape"), "launch.shape",
                      "each run is a job, on whatever nodes and devices Slurm gives it, and runs that are compared must share theirs, else "
                      "`run` ends with "
                      "exit code 7; pin them with nodelist and exclusive, or write shape array, whose blocks stay together"));
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
  warn_of_jobs_apart(state);
  check_pass_through(state);
  if (state.use == SweepUse::kSimulate) state.spec.launch_kind = "local";  // a simulation runs where it is started
}

}  // namespace rematch::spec
