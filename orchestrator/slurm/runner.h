// The runner of a submission: inside an allocation, on its first node, it claims its part of a study, carries it out by the engine with a
// database of its own on this node's disk, and says how that ended in runners/. Called by the verb `work` on one thread, which must hold
// the signals of engine::HeldSignals.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/engine/listener.h"
#include "orchestrator/slurm/client.h"
#include "schemas/protocol/runner_record.h"

namespace rematch::slurm {

struct RunnerArguments {
  std::filesystem::path workspace;
  std::filesystem::path study_folder;
  std::filesystem::path trainer;
  std::string submission;                                 // its name
  std::optional<std::string> launcher;                    // nullopt: srun for several nodes or with options of steps, else local
  std::vector<std::pair<std::string, std::string>> srun;  // options of each job step, as launch::StepLayout has them
};

struct RunnerResult {
  protocol::RunnerEnd end = protocol::RunnerEnd::kFailed;
  std::string message;  // empty: nothing to say
};

// Never throws on what an allocation does to it; a disk that refuses throws std::system_error, after the runner's record says so if it can.
RunnerResult run_submission(const RunnerArguments& arguments, Client& client, engine::Listener& listener);

}  // namespace rematch::slurm
