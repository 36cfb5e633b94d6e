#include "orchestrator/cli/slurm_preview.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "orchestrator/base/shell_text.h"
#include "orchestrator/base/slurm_time.h"
#include "orchestrator/slurm/batch_script.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

namespace {

namespace fs = std::filesystem;

std::size_t num_blocks(const base::StudyPlan& plan) {
  std::set<std::int64_t> blocks;
  for (const auto& trial : plan.trials) blocks.insert(trial.block);
  return blocks.size();
}

void count_jobs(const base::StudyPlan& plan, SlurmPreview& preview) {
  const bool is_per_trial = preview.shape == "trials";
  preview.num_jobs = is_per_trial ? plan.trials.size() : 1;
  preview.num_elements = preview.shape == "array" ? num_blocks(plan) : preview.num_jobs;
}

void bound_cost(const spec::SlurmSpec& slurm, SlurmPreview& preview) {
  for (const auto& [name, text] : slurm.options)
    if (name == "time") preview.time = text;
  const auto limit_s = base::parse_slurm_limit_s(preview.time);
  if (!limit_s) return;
  preview.node_hours_at_most =
      static_cast<double>(preview.num_elements) * static_cast<double>(preview.num_nodes) * static_cast<double>(*limit_s) / 3600.0;
}

slurm::BatchJob job_of(const SweepInput& input, const SlurmPreview& preview, const GlobalOptions& options) {
  const fs::path workspace = fs::absolute(options.workspace).lexically_normal();
  slurm::BatchJob job;
  job.name = slurm::job_name(input.plan.name, input.plan.study_id, "NONCE");
  job.num_tasks = static_cast<std::int64_t>(preview.num_elements);
  job.rematch = fs::read_symlink("/proc/self/exe");
  job.workspace = workspace;
  job.trainer = fs::absolute(input.trainer);
  job.study = protocol::WorkspacePaths{workspace}.study(input.plan.name, input.plan.study_id);
  return job;
}

std::string counted(std::size_t count, const std::string& noun) { return std::to_string(count) + " " + noun + (count == 1 ? "" : "s"); }

// Three digits, and every digit before the point.
std::string rounded(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), value < 1000 ? "%.3g" : "%.0f", value);
  return text.data();
}

std::string jobs_text(const SlurmPreview& preview) {
  const std::string nodes = counted(static_cast<std::size_t>(preview.num_nodes), "node");
  if (preview.shape == "array") return "1 job of " + counted(preview.num_elements, "element") + ", " + nodes + " each";
  return counted(preview.num_jobs, "job") + ", " + nodes + (preview.num_jobs == 1 ? "" : " each");
}

}  // namespace

std::optional<SlurmPreview> preview_slurm(const SweepInput& input, const GlobalOptions& options) {
  if (input.spec.launch_kind != "slurm") return std::nullopt;
  const spec::SlurmSpec& slurm = input.spec.slurm;
  SlurmPreview preview;
  preview.shape = slurm.shape;
  preview.num_nodes = slurm.num_nodes;
  count_jobs(input.plan, preview);
  bound_cost(slurm, preview);
  const slurm::BatchJob job = job_of(input, preview, options);
  preview.script_path = protocol::StudyPaths{job.study}.submission_script(job.name);
  preview.command = slurm::sbatch_command(slurm, job, preview.script_path);
  preview.script = slurm::batch_script(slurm, job);
  return preview;
}

std::string preview_text(const SlurmPreview& preview) {
  std::ostringstream text;
  text << "slurm: shape " << preview.shape << ", " << jobs_text(preview);
  if (preview.node_hours_at_most)
    text << "; at most " << rounded(*preview.node_hours_at_most) << " node-hours for one start of each";
  else
    text << "; no bound on node-hours: "
         << (preview.time.empty() ? "no time is written, and the partition's limit holds" : "time " + preview.time + " is no limit");
  text << "\nNothing is submitted. `run` would submit, with letters of its own in place of NONCE"
       << (preview.num_jobs > 1 ? ", a job like this for each trial:" : ":") << "\n  " << base::shell_command(preview.command) << "\n\n"
       << preview.script_path << "\n"
       << preview.script;
  return text.str();
}

nlohmann::json to_json(const std::optional<SlurmPreview>& preview) {
  if (!preview) return nullptr;
  return {{"shape", preview->shape},
          {"num_jobs", preview->num_jobs},
          {"num_elements", preview->num_elements},
          {"num_nodes", preview->num_nodes},
          {"time", preview->time.empty() ? nlohmann::json(nullptr) : nlohmann::json(preview->time)},
          {"node_hours_at_most", preview->node_hours_at_most ? nlohmann::json(*preview->node_hours_at_most) : nlohmann::json(nullptr)},
          {"command", preview->command},
          {"script_path", preview->script_path},
          {"script", preview->script}};
}

}  // namespace rematch::cli
