#include "orchestrator/cli/sweep_input.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <ostream>
#include <string_view>

#include "orchestrator/launch/trainer.h"
#include "orchestrator/plan/plan.h"
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

// The options come after the environment, and so outrank it.
std::variant<std::vector<spec::Override>, Exit> all_overrides(const std::vector<std::string>& set_options, Streams streams) {
  std::vector<spec::Override> overrides = environment_overrides();
  for (const auto& option : set_options) {
    const auto equals = option.find('=');
    if (equals == std::string::npos || equals == 0)
      return stop(Exit::kUsage, "--set wants key=value, such as training.seed=7; found '" + option + "'", streams);
    overrides.push_back({option.substr(0, equals), option.substr(equals + 1)});
  }
  return overrides;
}

void print(const std::vector<spec::Diagnostic>& diagnostics, const std::string& kind, Streams streams) {
  for (const auto& diagnostic : diagnostics) streams.err << kind << to_string(diagnostic) << "\n";
}

Exit refuse(const std::vector<spec::Diagnostic>& problems, const std::string& path, Streams streams) {
  print(problems, "", streams);
  streams.err << "rematch: " << path << " is refused: " << problems.size() << (problems.size() == 1 ? " problem" : " problems")
              << "; nothing was started\n";
  return Exit::kSweepInvalid;
}

}  // namespace

void SweepArguments::declare(CLI::App& app) {
  app.add_option("sweep", path, "The sweep file (YAML or JSON)")->required();
  app.add_option("--set", set_options, "Lay key=value over the file, with a dotted key; may be repeated")->allow_extra_args(false);
}

std::variant<SweepInput, Exit> load_sweep(const SweepArguments& arguments, const GlobalOptions& options, Streams streams) {
  const std::string& path = arguments.path;
  const auto overrides = all_overrides(arguments.set_options, streams);
  if (const Exit* exit = std::get_if<Exit>(&overrides)) return *exit;
  const auto text = protocol::read_whole_file(path);
  if (!text) return stop(Exit::kUsage, "wanted a sweep file that can be read; found none at " + path, streams);
  const auto trainer = launch::locate_trainer(options.trainer);
  if (!trainer) return stop(Exit::kEnvironment, trainer.error().message, streams);
  const auto described = launch::describe_trainer(trainer.value());
  if (!described) return stop(Exit::kEnvironment, described.error().message, streams);

  spec::ParsedSweep parsed = spec::parse_sweep(*text, path, described.value(), std::get<0>(overrides));
  print(parsed.warnings, "warning: ", streams);
  if (!parsed.problems.empty()) return refuse(parsed.problems, path, streams);
  base::StudyPlan study = plan::make_plan(parsed.spec, described.value());
  const plan::PlanFindings findings = plan::check_plan(study, parsed.spec, described.value());
  print(findings.warnings, "warning: ", streams);
  if (!findings.problems.empty()) return refuse(findings.problems, path, streams);
  parsed.warnings.insert(parsed.warnings.end(), findings.warnings.begin(), findings.warnings.end());
  return SweepInput{std::move(study), std::move(parsed.warnings), trainer.value(), std::move(parsed.spec)};
}

}  // namespace rematch::cli
