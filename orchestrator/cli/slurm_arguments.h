// The flags of `run` and `plan` that say where a sweep runs: --launcher, and Slurm's options by their own names. Each lays its value over
// the key of `launch` that it is named after.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "orchestrator/spec/sweep.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace rematch::cli {

class SlurmArguments {
 public:
  // The app must outlive this object.
  void declare(CLI::App& app);
  // After the command line was parsed. The origin of each is its flag.
  std::vector<spec::Override> overrides() const;

 private:
  void declare_options(CLI::App& app);

  std::vector<std::pair<std::string, CLI::Option*>> options_;  // the key of `launch` that each fills
  std::vector<std::string> sbatch_options_;                    // NAME=VALUE or NAME
  std::vector<std::string> srun_options_;
  std::vector<std::string> setup_;
};

}  // namespace rematch::cli
