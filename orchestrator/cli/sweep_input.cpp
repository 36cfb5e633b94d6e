#include "orchestrator/cli/sweep_input.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <ostream>
#include <string_view>

#include "orchestrator/launch/trainer.h"
#include "orchestrator/plan/plan.h"
#include "orchestrator/plan/simulate.h"
#include "schemas/protocol/record_file.h"

namespace rematch::cli {

namespace {

constexpr std::string_view kPrefix = "REMATCH_";

// "TRAINING__SEED" -> "training.seed"
std::string dotted_key(std::string_view name) {
  std::string key;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool gap = name.substr(i, 2) == "__";
    key += gap ? '.' : static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
    if (gap) ++i;
  }
  return key;
}

// REMATCH_TRAINING__SEED=7 is training.seed: 7. Names without "__" are options of rematch itself.
std::vector<spec::Override> environment_overrides() {
  std::vector<spec::Override> overrides;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string variable = *entry;
    const auto equals = variable.find('=');
    const std::string name = variable.substr(0, equals);
    if (name.rfind(kPrefix, 0) != 0 || name.find("__") == std::string::npos || equals == std::string::npos) continue;
    overrides.push_back({dotted_key(std::string_view(name).substr(kPrefix.size())), variable.substr(equals + 1), "environment " + name});
  }
  std::sort(overrides.begin(), overrides.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  return overrides;
}

Exit stop(Exit exit, const std::string& message, Streams streams) {
  streams.err << "rematch: " << message << "\n";
  return exit;
}

// The options come after the environment, and so outrank it; flags named after a key outrank --set.
std::variant<std::vector<spec::Override>, Exit> all_overrides(const SweepArguments& arguments, Streams streams) {
  std::vector<spec::Override> overrides = environment_overrides();
  for (const auto& option : arguments.set_options) {
    const auto equals = option.find('=');
    if (equals == std::string::npos || equals == 0)
      return stop(Exit::kUsage, "--set wants key=value, such as training.seed=7; found '" + option + "'", streams);
    overrides.push_back({option.substr(0, equals), option.substr(equals + 1)});
  }
  const std::vector<spec::Override> of_launch = arguments.slurm.overrides();
  overrides.insert(overrides.end(), of_launch.begin(), of_launch.end());
  return overrides;
}

void print(const std::vector<spec::Warning>& warnings, Streams streams) {
  for (const auto& warning : warnings) streams.err << "rematch: " << spec::warning_line(warning) << "\n";
}

Exit refuse(const std::vector<spec::Diagnostic>& problems, const std::string& path, Streams streams) {
  for (const auto& problem : problems) streams.err << to_string(problem) << "\n";
  streams.err << "rematch: " << path << " is refused: " << problems.size() << (problems.size() == 1 ? " problem" : " problems")
              << "; nothing was started\n";
  return Exit::kSweepInvalid;
}

spec::ParsedSweep parse(const SweepSource& source, SweepUse use) {
  return spec::parse_sweep(source.text, source.path, source.described, source.overrides, use);
}

}  // namespace

void SweepArguments::declare(CLI::App& app) {
  app.add_option("sweep", path, "The sweep file (YAML or JSON)")->required();
  app.add_option("--set", set_options, "Lay key=value over the file, with a dotted key; may be repeated")->allow_extra_args(false);
  app.add_flag("--simulate", simulate,
               "Predict instead: full-size ranks on the meta device, under the assumptions of `simulate` in the sweep");
  slurm.declare(app);
}

std::variant<SweepSource, Exit> read_sweep(const SweepArguments& arguments, const GlobalOptions& options, Streams streams) {
  const std::string& path = arguments.path;
  auto overrides = all_overrides(arguments, streams);
  if (const Exit* exit = std::get_if<Exit>(&overrides)) return *exit;
  const auto text = protocol::read_whole_file(path);
  if (!text) return stop(Exit::kUsage, "wanted a sweep file that can be read; found none at " + path, streams);
  const auto trainer = launch::locate_trainer(options.trainer);
  if (!trainer) return stop(Exit::kEnvironment, trainer.error().message, streams);
  auto described = launch::describe_trainer(trainer.value());
  if (!described) return stop(Exit::kEnvironment, described.error().message, streams);
  return SweepSource{path, *text, std::move(std::get<0>(overrides)), trainer.value(), std::move(described).value()};
}

std::variant<SweepInput, Exit> plan_sweep(const SweepSource& source, SweepUse use, Streams streams) {
  spec::ParsedSweep parsed = parse(source, use);
  print(parsed.warnings, streams);
  if (!parsed.problems.empty()) {
    if (use == SweepUse::kRun && only_lacks_device(source))
      streams.err << "rematch: this trainer lacks the sweep's device; --simulate predicts the sweep here\n";
    return refuse(parsed.problems, source.path, streams);
  }
  if (use == SweepUse::kSimulate) parsed.spec = plan::simulated(parsed.spec);
  base::StudyPlan study = plan::make_plan(parsed.spec, source.described);
  const plan::PlanFindings findings = plan::check_plan(study, parsed.spec, source.described);
  print(findings.warnings, streams);
  if (!findings.problems.empty()) return refuse(findings.problems, source.path, streams);
  parsed.warnings.insert(parsed.warnings.end(), findings.warnings.begin(), findings.warnings.end());
  return SweepInput{std::move(study), std::move(parsed.warnings), source.trainer, std::move(parsed.spec)};
}

std::variant<SweepInput, Exit> load_sweep(const SweepArguments& arguments, const GlobalOptions& options, Streams streams) {
  const auto source = read_sweep(arguments, options, streams);
  if (const Exit* exit = std::get_if<Exit>(&source)) return *exit;
  return plan_sweep(std::get<SweepSource>(source), arguments.use(), streams);
}

bool only_lacks_device(const SweepSource& source) {
  const spec::ParsedSweep parsed = parse(source, SweepUse::kRun);
  const bool is_device = parsed.problems.size() == 1 && parsed.problems.front().path == "backend.device";
  return is_device && parsed.spec.common.backend.device == "cuda" && parse(source, SweepUse::kSimulate).problems.empty();
}

}  // namespace rematch::cli
