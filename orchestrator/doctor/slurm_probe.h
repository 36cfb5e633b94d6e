// A job of at most a minute that asks compute nodes what this machine cannot know: whether they see the workspace and can write there,
// whether the trainer runs there and is the same build, and what `rematch doctor` says there. Submits it, waits for the answers with a
// deadline, cancels it by name when they do not come, and removes what it made. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/doctor/finding.h"
#include "orchestrator/slurm/client.h"

namespace rematch::doctor {

struct ProbeRequest {
  std::filesystem::path rematch;  // this program; all paths absolute
  std::filesystem::path workspace;
  std::optional<std::filesystem::path> trainer;  // nullopt: none was found here, so none is looked for there
  std::string trainer_found;                     // what examine_trainer found here
  std::vector<std::string> options;              // of sbatch besides ours: "--partition=gpu"
  std::int64_t num_nodes = 1;
  std::chrono::seconds deadline{120};  // from submission to the last answer
};

struct ProbeClock {
  std::function<std::chrono::steady_clock::time_point()> now;
  std::function<bool(std::chrono::milliseconds)> sleep;  // false: a user wants it to end
};

// slurm_probe, about the job, then node_<name> of each node that answered.
Findings probe_nodes(slurm::Client& client, const ProbeRequest& request, const ProbeClock& clock);

// Of a node's answer: its lines "name=value" and the document that `doctor --json` printed there.
Finding judge_node(const std::string& node, const std::string& answer, const std::string& document, const ProbeRequest& request);

}  // namespace rematch::doctor
