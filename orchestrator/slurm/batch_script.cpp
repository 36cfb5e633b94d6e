#include "orchestrator/slurm/batch_script.h"

#include <algorithm>
#include <array>

#include "orchestrator/base/shell_text.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::slurm {

namespace {

constexpr std::size_t kMaxJobName = 64;
constexpr const char* kNameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

struct Option {
  std::string name;
  std::string value;  // empty: without one
};

// Options of the sweep in the order in which a reader looks for them.
constexpr std::array kOrder = {"partition", "account", "qos",           "reservation", "time",          "constraint",
                               "nodelist",  "exclude", "gpus-per-node", "gres",        "cpus-per-task", "mem",
                               "exclusive", "requeue", "signal",        "dependency"};

const std::string* find(const spec::SlurmSpec::Texts& texts, const std::string& name) {
  const auto found = std::find_if(texts.begin(), texts.end(), [&](const auto& text) { return text.first == name; });
  return found == texts.end() ? nullptr : &found->second;
}

bool holds_whole_nodes(const spec::SlurmSpec& slurm) { return slurm.shape == "allocation" || slurm.shape == "array"; }

// Slurm gives a job that has its nodes alone no more memory than it asks for, and 0 asks for all.
bool wants_all_memory(const spec::SlurmSpec& slurm, bool is_exclusive) {
  return is_exclusive && find(slurm.pass_through, "mem-per-cpu") == nullptr && find(slurm.pass_through, "mem-per-gpu") == nullptr;
}

// What is asked for where the sweep does not say; "false": nothing.
std::string default_value(const spec::SlurmSpec& slurm, const std::string& name, bool is_exclusive) {
  if (name == "exclusive") return holds_whole_nodes(slurm) ? "true" : "false";
  if (name == "mem") return wants_all_memory(slurm, is_exclusive) ? "0" : "false";
  if (name == "requeue") return "true";
  if (name == "signal") return "B:USR1@120";
  return "false";
}

void add_sweep_options(const spec::SlurmSpec& slurm, std::vector<Option>& options) {
  const std::string* exclusive = find(slurm.options, "exclusive");
  const bool is_exclusive = exclusive == nullptr ? holds_whole_nodes(slurm) : *exclusive == "true";
  for (const std::string name : kOrder) {
    const std::string* said = find(slurm.options, name);
    const std::string value = said != nullptr ? *said : default_value(slurm, name, is_exclusive);
    if (name == "requeue")
      options.push_back({value == "false" ? "no-requeue" : "requeue", ""});
    else if (value != "false")
      options.push_back({name, value == "true" ? "" : value});
  }
}

// Slurm replaces patterns such as %j in it.
std::string file_pattern(const std::filesystem::path& path) {
  std::string pattern;
  for (const char c : path.string()) pattern += c == '%' ? std::string("%%") : std::string(1, c);
  return pattern;
}

std::string output_pattern(const spec::SlurmSpec& slurm, const BatchJob& job) {
  if (slurm.shape != "array") return file_pattern(protocol::StudyPaths{job.study}.submission_output(job.name));
  return file_pattern(protocol::StudyPaths{job.study}.submissions() / (job.name + "-")) + "%a.out";
}

std::string array_range(const spec::SlurmSpec& slurm, const BatchJob& job) {
  return "0-" + std::to_string(job.num_tasks - 1) + (slurm.throttle ? "%" + std::to_string(*slurm.throttle) : "");
}

std::vector<Option> all_options(const spec::SlurmSpec& slurm, const BatchJob& job) {
  const std::string* comment = find(slurm.options, "comment");
  std::vector<Option> options = {{"job-name", job.name},
                                 {"comment", comment == nullptr ? job.name : *comment},
                                 {"output", output_pattern(slurm, job)},
                                 {"open-mode", "append"},
                                 {"export", "ALL"}};
  if (slurm.shape == "array") options.push_back({"array", array_range(slurm, job)});
  options.push_back({"nodes", std::to_string(slurm.num_nodes)});
  options.push_back({"ntasks-per-node", std::to_string(slurm.ranks_per_node)});
  add_sweep_options(slurm, options);
  if (find(slurm.pass_through, "no-kill") == nullptr) options.push_back({"no-kill", ""});
  for (const auto& [name, value] : slurm.pass_through) options.push_back({name, value});
  return options;
}

// sbatch reads the lines of a script word by word: a blank, a quote or '#' ends a word that is not in quotes.
std::string directive_quoted(const std::string& value) {
  if (value.find_first_of(" \t\"'\\#") == std::string::npos) return value;
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string directive(const Option& option) {
  return "#SBATCH --" + option.name + (option.value.empty() ? "" : "=" + directive_quoted(option.value)) + "\n";
}

// A failed command ends the job: the trials would run in another environment than the sweep asks for. Commands inside functions and
// sourced files, such as those of environment modules, may fail: what counts is how the whole call ends.
constexpr const char* kEndOnFailure =
    "trap 'rematch_exit=$?; if ((${#BASH_SOURCE[@]} == 1)); then "
    "echo \"rematch: the set-up failed with exit code $rematch_exit, at line $LINENO of the job script: $BASH_COMMAND\" >&2; "
    "exit $rematch_exit; fi' ERR\n";

std::string setup_lines(const spec::SlurmSpec& slurm) {
  if (slurm.setup.empty()) return "";
  std::string script = kEndOnFailure;
  for (const std::string& lines : slurm.setup) script += lines + (lines.ends_with('\n') ? "" : "\n");
  return script + "trap - ERR\n\n";
}

}  // namespace

std::string job_name(std::string_view study_name, std::string_view study_id, std::string_view nonce) {
  const std::string tail = "-" + std::string(study_id) + "-" + std::string(nonce);
  std::string name(study_name.substr(0, kMaxJobName - std::min(kMaxJobName, tail.size())));
  for (char& c : name)
    if (std::string_view(kNameLetters).find(c) == std::string_view::npos) c = '_';
  return name + tail;
}

std::filesystem::path element_output(const std::filesystem::path& study, const std::string& name, std::int64_t index) {
  return protocol::StudyPaths{study}.submissions() / (name + "-" + std::to_string(index) + ".out");
}

std::vector<std::string> sbatch_options(const spec::SlurmSpec& slurm, const BatchJob& job) {
  std::vector<std::string> texts;
  for (const Option& option : all_options(slurm, job))
    texts.push_back("--" + option.name + (option.value.empty() ? "" : "=" + option.value));
  return texts;
}

std::string batch_script(const spec::SlurmSpec& slurm, const BatchJob& job) {
  std::string script = "#!/bin/bash\n";
  for (const Option& option : all_options(slurm, job)) script += directive(option);
  script += "\n" + setup_lines(slurm);
  script += "# The runner takes the shell's place, and so gets the signals that Slurm sends to it.\nexec ";
  std::vector<std::string> command = {job.rematch, "--workspace", job.workspace,  "--trainer", job.trainer,
                                      "work",      job.study,     "--submission", job.name};
  for (const auto& [name, value] : slurm.srun) {
    command.emplace_back("--srun");
    command.push_back(name + (value.empty() ? "" : "=" + value));
  }
  script += base::shell_command(command);
  return script + "\n";
}

std::vector<std::string> sbatch_command(const spec::SlurmSpec& slurm, const BatchJob& job, const std::filesystem::path& script) {
  std::vector<std::string> command = {"sbatch", "--parsable"};
  const std::vector<std::string> options = sbatch_options(slurm, job);
  command.insert(command.end(), options.begin(), options.end());
  command.push_back(script);
  return command;
}

}  // namespace rematch::slurm
