#include "orchestrator/launch/step_command.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <utility>

#include "orchestrator/launch/allocation.h"

namespace rematch::launch {

namespace {

using Options = std::vector<std::pair<std::string, std::string>>;

// Of each node one supervisor with all of the node: its stdin is the control channel, and a node that fails leaves the others running, so
// that they end in order.
Options own_options(const LaunchRequest& request, const StepResources& resources) {
  const std::string nodes = std::to_string(request.step.num_nodes);
  Options options = {{"nodes", nodes}, {"ntasks", nodes},         {"ntasks-per-node", "1"}, {"cpu-bind", "none"}, {"mem", "0"},
                     {"no-kill", ""},  {"kill-on-bad-exit", "1"}, {"input", "all"},         {"export", "ALL"},    {"job-name", "rematch"}};
  if (resources.cpus_per_node) options.emplace_back("cpus-per-task", std::to_string(*resources.cpus_per_node));
  if (request.trial.backend.device == "cuda" && resources.gpus_per_node)
    options.emplace_back("gres", "gpu:" + std::to_string(*resources.gpus_per_node));
  return options;
}

bool asks_for_gpus(const std::string& name) { return name == "gres" || name == "gpus" || name.rfind("gpus-per-", 0) == 0; }

bool outranks(const std::string& given, const std::string& own) { return given == own || (own == "gres" && asks_for_gpus(given)); }

}  // namespace

std::optional<std::int64_t> least_cpus(const std::string& cpus_per_node) {
  std::optional<std::int64_t> least;
  std::istringstream parts(cpus_per_node);
  for (std::string part; std::getline(parts, part, ',');) {
    std::int64_t cpus = 0;
    const auto parsed = std::from_chars(part.data(), part.data() + part.size(), cpus);
    if (parsed.ec != std::errc() || cpus < 1) return std::nullopt;
    least = std::min(least.value_or(cpus), cpus);
  }
  return least;
}

StepResources resources_from_environment() {
  const auto gpus = environment_number("SLURM_GPUS_ON_NODE");
  return {least_cpus(environment_text("SLURM_JOB_CPUS_PER_NODE").value_or("")), gpus && *gpus > 0 ? gpus : std::nullopt};
}

std::vector<std::string> step_arguments(const LaunchRequest& request, const StepResources& resources, const std::filesystem::path& program,
                                        const SuperviseArguments& supervise) {
  Options options = own_options(request, resources);
  for (const auto& [name, value] : request.step.options)
    std::erase_if(options, [&given = name](const auto& own) { return outranks(given, own.first); });
  options.insert(options.end(), request.step.options.begin(), request.step.options.end());
  std::vector<std::string> arguments;
  for (const auto& [name, value] : options) arguments.push_back("--" + name + (value.empty() ? "" : "=" + value));
  arguments.push_back(program.string());
  for (std::string& word : supervise_command(supervise)) arguments.push_back(std::move(word));
  return arguments;
}

}  // namespace rematch::launch
