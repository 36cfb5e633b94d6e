#include "orchestrator/slurm/client.h"

#include "orchestrator/launch/find_program.h"
#include "orchestrator/launch/process.h"

namespace rematch::slurm {

namespace {

// What a user, or a job that this process was started in, has set: it would filter, rename or move what is asked, or turn up in the job
// that is submitted as if it were that job's own.
std::vector<std::string> misleading_variables() {
  return {"SQUEUE_*",         "SCANCEL_*",        "SACCT_*",      "SINFO_*",         "SCONTROL_*",         "SBATCH_WAIT",
          "SBATCH_TEST_ONLY", "SBATCH_ARRAY_INX", "SBATCH_ERROR", "SBATCH_CLUSTERS", "SLURM_ARRAY_*",      "SLURM_JOB_*",
          "SLURM_JOBID",      "SLURM_RESTART_*",  "SLURM_STEP*",  "SLURM_TASK*",     "SLURM_NTASKS*",      "SLURM_NPROCS",
          "SLURM_NODE*",      "SLURM_NNODES",     "SLURM_PROCID", "SLURM_LOCALID",   "SLURM_GTIDS",        "SLURM_CPUS_*",
          "SLURM_CPU_BIND*",  "SLURM_MEM_*",      "SLURM_GPU*",   "SLURM_TRES_*",    "SLURM_HET_*",        "SLURM_SUBMIT_*",
          "SLURM_TOPOLOGY_*", "SLURM_LAUNCH_*",   "SLURM_SRUN_*", "SLURM_PRIO_*",    "SLURM_DISTRIBUTION", "SLURMD_NODENAME"};
}

class ProgramClient final : public Client {
 public:
  base::Result<Answer> call(const std::vector<std::string>& command, std::chrono::milliseconds deadline) override {
    const auto program = launch::find_program(command.front());
    if (!program)
      return base::Error{"Slurm's " + command.front() + " is not on PATH. Run where Slurm's client commands are, such as a login node"};
    launch::ProcessSpec spec;
    spec.program = *program;
    spec.arguments = {command.begin() + 1, command.end()};
    spec.environment = {{"LC_ALL", "C"}, {"SLURM_TIME_FORMAT", "standard"}};
    spec.unset = misleading_variables();
    const auto captured = launch::run_captured(spec, deadline, launch::Capture::kOutputAndErrors);
    if (!captured) return captured.error();
    const launch::ProcessEnd& end = captured.value().end;
    return Answer{end.exit_code.value_or(128 + end.signal.value_or(0)), captured.value().text, captured.value().error_text};
  }
};

}  // namespace

std::unique_ptr<Client> make_client() { return std::make_unique<ProgramClient>(); }

}  // namespace rematch::slurm
