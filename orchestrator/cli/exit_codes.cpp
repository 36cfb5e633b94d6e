#include "orchestrator/cli/exit_codes.h"

#include "orchestrator/cli/verb.h"

namespace rematch::cli {

namespace {

constexpr int code(Exit exit) { return static_cast<int>(exit); }

}  // namespace

const std::vector<ExitCodeRow>& exit_codes() {
  static const std::vector<ExitCodeRow> rows = {
      {code(Exit::kOk), "complete and usable; candidates, and the control, may have run out of memory: that is a result"},
      {code(Exit::kInternal), "internal error"},
      {code(Exit::kUsage), "usage; of `check-config`, also a line that cannot be read"},
      {code(Exit::kSweepInvalid), "the sweep is invalid; nothing was started; of `check-config`, a configuration is refused"},
      {code(Exit::kCandidateFailed), "a candidate ended in an unexpected way (out of memory is not one)"},
      {code(Exit::kNoneMeetsBudget), "no candidate meets the budget, or none passes"},
      {code(Exit::kControlInvalid), "the control is not a control, or failed otherwise than by memory"},
      {code(Exit::kComparisonRefused),
       "comparison refused: trials of the study, or what `compare` names, differ in recorded fields other than recompute, or no row of the "
       "published table is matched; the report has the fields"},
      {code(Exit::kEnvironment),
       "environment: no trainer, workspace in use, disk full, database locked or damaged, a trial that this machine could "
       "not carry out; under Slurm also a job that it refuses or that would never start, a part that ended too often "
       "without its results, jobs that `cancel` could not see end; of `doctor`: something would stop a run"},
      {code(Exit::kGateFired), "a gate of `--fail-on` fired where the exit were 0"},
      {code(Exit::kInterrupted), "interrupted, or under Slurm no longer followed, or a job was cancelled; run again to go on"},
      {code(Exit::kTimeLimit), "time limit (kept for a limit on a whole run, which is not there yet)"},
  };
  return rows;
}

}  // namespace rematch::cli
