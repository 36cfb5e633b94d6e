// `run` of a sweep for Slurm: submits, follows, collects and reports. SIGINT and SIGTERM end the following and leave the jobs alone.
#pragma once

#include "orchestrator/cli/finish_run.h"
#include "orchestrator/cli/sweep_input.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/slurm/follow.h"

namespace rematch::cli {

Exit run_on_cluster(const SweepInput& input, slurm::FollowUntil until, const FinishOptions& finish, const GlobalOptions& options,
                    Streams streams);

// Why the study may not be carried out on this machine: jobs of it may still run. Empty: it may.
std::string refuse_beside_jobs(const base::StudyPlan& plan, const GlobalOptions& options);

}  // namespace rematch::cli
