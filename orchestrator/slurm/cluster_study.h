// Carries a planned study out in jobs of Slurm, or goes on where it stopped: collects what there is, submits what is left, follows it, and
// again, until the study is at its end. The study's folder is the only channel to the runners in the jobs. Called by `run` on one thread;
// the workspace is locked while something is submitted or collected, and free while jobs run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "orchestrator/base/result.h"
#include "orchestrator/engine/engine.h"
#include "orchestrator/slurm/follow.h"
#include "orchestrator/slurm/surroundings.h"
#include "orchestrator/spec/sweep.h"

namespace rematch::slurm {

struct ClusterOptions {
  std::filesystem::path workspace;  // absolute, as all of them: the nodes see them too
  std::filesystem::path trainer;
  std::filesystem::path rematch;
  spec::SlurmSpec slurm;
  FollowUntil until = FollowUntil::kAllEnded;  // kOneLook: come back when it is submitted, or when a look shows that jobs go on
};

enum class ClusterEnd {
  kEnded,       // nothing is open any more; `result` says how far the study got, `stops` why not further
  kJobsGoOn,    // after one look
  kToldToStop,  // the jobs were left alone
};

struct ClusterResult {
  ClusterEnd end = ClusterEnd::kEnded;
  engine::EngineResult result;             // of kEnded
  std::vector<Stop> stops;                 // parts that were given up
  std::vector<protocol::Submission> open;  // submissions
};

// The error is one of the environment: workspace in use or not writable, database, Slurm that does not answer after an sbatch.
base::Result<ClusterResult> carry_out_on_cluster(const base::StudyPlan& plan, const ClusterOptions& options,
                                                 const Surroundings& surroundings, engine::Listener& listener, Watcher& watcher);

}  // namespace rematch::slurm
