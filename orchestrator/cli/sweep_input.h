// What `plan` and `run` both do first: read the sweep file, ask the trainer what it can do, parse, print every problem, make the plan.
// Starts no trial. Problems and warnings go to streams.err.
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/cli/slurm_arguments.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/spec/sweep.h"

namespace rematch::cli {

using spec::SweepUse;

// SWEEP, --set, --simulate, --launcher and Slurm's options on the command line of the verbs that read a sweep.
struct SweepArguments {
  std::string path;
  std::vector<std::string> set_options;  // key=value
  bool simulate = false;
  SlurmArguments slurm;

  void declare(CLI::App& app);
  SweepUse use() const { return simulate ? SweepUse::kSimulate : SweepUse::kRun; }
};

struct SweepInput {
  base::StudyPlan plan;
  std::vector<spec::Warning> warnings;
  std::filesystem::path trainer;
  spec::SweepSpec spec;  // for `plan --origin`; the plan has all that `run` needs
};

// A sweep file, the trainer that it is for, and what is laid over the file; nothing of it understood yet.
struct SweepSource {
  std::string path;
  std::string text;
  std::vector<spec::Override> overrides;
  std::filesystem::path trainer;
  protocol::Describe described;
};

// The Exit says why there is none: kUsage (no such file, a --set without '='), kEnvironment (no trainer).
std::variant<SweepSource, Exit> read_sweep(const SweepArguments& arguments, const GlobalOptions& options, Streams streams);
// kSweepInvalid when it has a problem.
std::variant<SweepInput, Exit> plan_sweep(const SweepSource& source, SweepUse use, Streams streams);
// Both, for the use that the arguments name.
std::variant<SweepInput, Exit> load_sweep(const SweepArguments& arguments, const GlobalOptions& options, Streams streams);
// Whether nothing but cuda, which this trainer lacks, is wrong with the sweep: it can be predicted here, and not run.
bool only_lacks_device(const SweepSource& source);

}  // namespace rematch::cli
