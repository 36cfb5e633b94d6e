// One rank from trial.json to exit code: device, rendezvous, mesh, training, and the record of all of it.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "runtime/rank_environment.h"
#include "schemas/protocol/outcome.h"

namespace rematch::runtime {

// What a rank writes beside its record.
struct RankOutputs {
  std::optional<std::string> gradient_log_folder;
  std::optional<std::string> allocation_trace;  // a file that is not there yet, of this rank alone
};

// A file of RankOutputs that cannot be begun, such as one that is there already.
struct BadOutput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A trial that this trainer cannot carry out is said on stderr and comes back as kBadTrial, before any record is begun. Otherwise this ends
// the process: what goes wrong from `hello` on is recorded beside the trial, told to the peers, and becomes the exit code. Throws what goes
// wrong before (no such device, a record that cannot be written), and BadOutput before any record is begun.
protocol::TrainExit run_rank(const std::string& trial_path, const RankEnvironment& environment, const RankOutputs& outputs);

// Runs the forward of the first micro-batch and prints what it holds for its backward (train/saved_report.h). Writes no record. Every rank
// of the trial must do so. Throws what goes wrong after the trial was checked.
protocol::TrainExit list_saved_tensors(const std::string& trial_path, const RankEnvironment& environment);

}  // namespace rematch::runtime
