// What `plan` and `run` both do first: read the sweep file, ask the trainer what it can do, parse, print every problem, make the plan.
// Starts no trial. Problems and warnings go to streams.err.
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/spec/sweep.h"

namespace rematch::cli {

// SWEEP and --set on the command line of the verbs that read a sweep.
struct SweepArguments {
  std::string path;
  std::vector<std::string> set_options;  // key=value

  void declare(CLI::App& app);
};

struct SweepInput {
  base::StudyPlan plan;
  std::vector<spec::Diagnostic> warnings;
  std::filesystem::path trainer;
  spec::SweepSpec spec;  // for `plan --origin`; the plan has all that `run` needs
};

// The Exit says why there is none: kSweepInvalid, kUsage (no such file, a --set without '='), kEnvironment (no trainer).
std::variant<SweepInput, Exit> load_sweep(const SweepArguments& arguments, const GlobalOptions& options, Streams streams);

}  // namespace rematch::cli
