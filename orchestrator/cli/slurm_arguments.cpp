#include "orchestrator/cli/slurm_arguments.h"

#include <CLI/CLI.hpp>

#include "orchestrator/spec/slurm_options.h"
#include "orchestrator/spec/value.h"

namespace rematch::cli {

namespace {

constexpr const char* kGroup = "Slurm";

CLI::Option* declare_option(CLI::App& app, const spec::SlurmOption& option) {
  const std::string help = option.meaning + (option.otherwise.empty() ? "" : " (else: " + option.otherwise + ")");
  switch (option.form) {
    case spec::SlurmForm::kText: return app.add_option("--" + option.name, help)->type_name("TEXT");
    case spec::SlurmForm::kCount: return app.add_option("--" + option.name, help)->type_name("INT");
    case spec::SlurmForm::kFlag: return app.add_flag("--" + option.name, help);
    case spec::SlurmForm::kSwitch: return app.add_flag("--" + option.name + ",!--no-" + option.name, help);
  }
  return nullptr;
}

// A name without a value: an option that takes none.
spec::Override pass_through(const std::string& section, const std::string& text) {
  const auto equals = text.find('=');
  const std::string value = equals == std::string::npos ? "true" : spec::as_yaml(text.substr(equals + 1));
  return {"launch." + section + "." + text.substr(0, equals), value, "--" + section};
}

spec::Override list_of(const std::vector<std::string>& lines) {
  std::string list;
  for (const std::string& line : lines) list += (list.empty() ? "" : ", ") + spec::as_yaml(line);
  return {"launch.setup", "[" + list + "]", "--setup"};
}

}  // namespace

void SlurmArguments::declare(CLI::App& app) {
  CLI::Option* launcher =
      app.add_option("--launcher", "What starts the trials: this machine, or jobs under Slurm; a simulation always runs here");
  launcher->check(CLI::IsMember({"local", "slurm"}));
  options_.emplace_back("kind", launcher);
  declare_options(app);
  options_.emplace_back(
      "shape",
      app.add_option("--shape", "One job for all (allocation), an array of blocks (array), a job a trial (trials)")->type_name("TEXT"));
  options_.emplace_back("throttle", app.add_option("--throttle", "Elements of shape array that run at a time")->type_name("INT"));
  for (const char* name : {"shape", "throttle"}) app.get_option(std::string("--") + name)->group(kGroup);
  const auto declare_list = [&](const char* name, std::vector<std::string>& values, const char* help) {
    app.add_option(name, values, help)->allow_extra_args(false)->group(kGroup);
  };
  declare_list("--slurm", sbatch_options_, "A further option of sbatch, NAME=VALUE or NAME, without dashes; may be repeated");
  declare_list("--srun", srun_options_, "An option of each job step, NAME=VALUE or NAME, without dashes; may be repeated");
  declare_list("--setup", setup_, "A line of shell that a job runs first, such as 'module load cuda'; may be repeated");
}

void SlurmArguments::declare_options(CLI::App& app) {
  for (const spec::SlurmOption& option : spec::slurm_options()) {
    CLI::Option* declared = declare_option(app, option);
    declared->group(kGroup);
    options_.emplace_back(option.name, declared);
  }
}

std::vector<spec::Override> SlurmArguments::overrides() const {
  std::vector<spec::Override> overrides;
  for (const auto& [key, option] : options_)
    if (option->count() > 0) overrides.push_back({"launch." + key, spec::as_yaml(option->as<std::string>()), option->get_name()});
  for (const std::string& text : sbatch_options_) overrides.push_back(pass_through("slurm", text));
  for (const std::string& text : srun_options_) overrides.push_back(pass_through("srun", text));
  if (!setup_.empty()) overrides.push_back(list_of(setup_));
  return overrides;
}

}  // namespace rematch::cli
