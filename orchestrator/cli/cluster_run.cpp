#include "orchestrator/cli/cluster_run.h"

#include <filesystem>
#include <ostream>

#include "orchestrator/cli/cluster_progress.h"
#include "orchestrator/cli/stop_request.h"
#include "orchestrator/cli/terminal.h"
#include "orchestrator/slurm/client.h"
#include "orchestrator/slurm/cluster_study.h"
#include "orchestrator/slurm/submission_store.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

namespace {

namespace fs = std::filesystem;

slurm::ClusterOptions cluster_options(const SweepInput& input, const GlobalOptions& options, slurm::FollowUntil until) {
  slurm::ClusterOptions cluster;
  cluster.workspace = fs::absolute(options.workspace).lexically_normal();
  cluster.trainer = fs::absolute(input.trainer).lexically_normal();
  cluster.rematch = fs::read_symlink("/proc/self/exe");
  cluster.slurm = input.spec.slurm;
  cluster.until = until;
  return cluster;
}

Exit end_of_stops(const std::vector<slurm::Stop>& stops) {
  for (const slurm::Stop& stop : stops)
    if (stop.kind == slurm::StopKind::kEnvironment) return Exit::kEnvironment;
  return Exit::kInterrupted;
}

Exit print_jobs(const std::vector<protocol::Submission>& open, Streams streams) {
  for (const protocol::Submission& submission : open)
    streams.out << submission.name << " " << (submission.job_id ? std::to_string(*submission.job_id) : "-") << "\n";
  return Exit::kOk;
}

Exit finish(slurm::ClusterResult result, const FinishOptions& options_of_finish, const GlobalOptions& options, Streams streams) {
  engine::EngineResult& study = result.result;
  if (study.end == engine::EngineEnd::kTrialsLeft && !result.stops.empty() && end_of_stops(result.stops) == Exit::kInterrupted)
    study.end = engine::EngineEnd::kInterrupted;
  return finish_run(study, options_of_finish, options, streams);
}

}  // namespace

Exit run_on_cluster(const SweepInput& input, slurm::FollowUntil until, const FinishOptions& finish_options, const GlobalOptions& options,
                    Streams streams) {
  StopRequest stop;
  const auto client = slurm::make_client();
  const slurm::Surroundings surroundings = real_surroundings(*client, stop);
  base::Result<slurm::ClusterResult> carried = [&] {
    const bool follows = until == slurm::FollowUntil::kAllEnded;
    ClusterProgress progress(
        streams.err, decide_terminal(facts_of_stderr(), options.color), chatter_of(options.verbosity), surroundings.now,
        follows ? "rematch: Ctrl-C stops following and leaves the jobs alone; `rematch cancel " + input.plan.name + "` ends them" : "",
        columns_of_stderr);
    return slurm::carry_out_on_cluster(input.plan, cluster_options(input, options, until), surroundings, progress, progress);
  }();
  if (!carried) {
    streams.err << "rematch: " << carried.error().message << "\n";
    return Exit::kEnvironment;
  }
  switch (carried.value().end) {
    case slurm::ClusterEnd::kEnded: return finish(std::move(carried).value(), finish_options, options, streams);
    case slurm::ClusterEnd::kJobsGoOn: return print_jobs(carried.value().open, streams);
    case slurm::ClusterEnd::kToldToStop: break;
  }
  streams.err << "rematch: stopped following; the jobs go on. Run again to follow and to collect, or `rematch cancel " << input.plan.name
              << "` to end them\n";
  return Exit::kInterrupted;
}

std::string refuse_beside_jobs(const base::StudyPlan& plan, const GlobalOptions& options) {
  const auto open = slurm::SubmissionStore(protocol::WorkspacePaths{options.workspace}.study(plan.name, plan.study_id)).open();
  if (open.empty()) return "";
  return "jobs of this study may still be queued or run (" + open.front().name + (open.size() > 1 ? " and others" : "") +
         "). Run with --launcher slurm to go on with them, or `rematch cancel " + plan.name + "` first";
}

}  // namespace rematch::cli
