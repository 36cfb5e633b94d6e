// What `plan` says of a sweep for Slurm: the jobs that `run` would submit, how, and what they may take at most. Submits nothing and asks
// nothing of Slurm.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/cli/sweep_input.h"
#include "orchestrator/cli/verb.h"

namespace rematch::cli {

struct SlurmPreview {
  std::string shape;
  std::size_t num_jobs = 0;                  // of the first round; an array is one job
  std::size_t num_elements = 0;              // of them that take an allocation: jobs, or the elements of an array
  std::int64_t num_nodes = 0;                // of one of them
  std::string time;                          // the limit as written; empty: the partition's
  std::optional<double> node_hours_at_most;  // elements * nodes * limit, for one start of each; null: no limit written
  std::vector<std::string> command;          // of the first job, with NONCE where a submission has letters of its own
  std::string script_path;
  std::string script;
};

// null when the sweep is not for Slurm.
std::optional<SlurmPreview> preview_slurm(const SweepInput& input, const GlobalOptions& options);
std::string preview_text(const SlurmPreview& preview);
nlohmann::json to_json(const std::optional<SlurmPreview>& preview);

}  // namespace rematch::cli
