#include "orchestrator/slurm/cluster_study.h"

#include <utility>

#include "orchestrator/slurm/workspace_turn.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::slurm {

using protocol::Submission;

namespace {

class ClusterStudy {
 public:
  ClusterStudy(const base::StudyPlan& plan, const ClusterOptions& options, const Surroundings& surroundings, engine::Listener& listener,
               Watcher& watcher)
      : plan_(plan),
        options_(options),
        surroundings_(surroundings),
        listener_(listener),
        watcher_(watcher),
        root_(protocol::WorkspacePaths{options.workspace}.study(plan.name, plan.study_id)),
        store_(root_),
        cluster_(surroundings.client, surroundings.user_id),
        submitter_(cluster_, store_, setup(), surroundings),
        trials_(plan, engine::StudyFolder(root_)),
        follower_(surroundings, cluster_, submitter_, store_, trials_, watcher, options.workspace) {}

  base::Result<ClusterResult> run() {
    for (;;) {
      if (store_.open().empty()) {
        auto collected = collect();
        if (!collected) return collected.error();
        if (is_at_its_end(collected.value())) return ended(std::move(collected).value());
        if (surroundings_.is_told_to_stop()) return left_alone();
        if (const auto problem = submit_what_is_left(collected.value())) return *problem;
      } else if (const auto problem = look_for_lost_answers()) {
        return *problem;
      }
      if (!follower_.follow(options_.until)) return left_alone();
    }
  }

 private:
  JobSetup setup() const {
    JobSetup setup;
    setup.slurm = options_.slurm;
    setup.job.rematch = options_.rematch;
    setup.job.workspace = options_.workspace;
    setup.job.trainer = options_.trainer;
    setup.job.study = root_;
    setup.study_name = plan_.name;
    setup.study_id = plan_.study_id;
    return setup;
  }

  base::Result<engine::EngineResult> collect() {
    wait_for_turn(options_.workspace, surroundings_);
    return engine::collect_study(plan_, collect_options(options_.workspace), listener_);
  }

  // Given up, complete, or no better than the last time that all jobs had ended.
  bool is_at_its_end(const engine::EngineResult& result) {
    const bool wants_more = result.end != engine::EngineEnd::kControlRefuted && (result.num_undone > 0 || result.plan_grew);
    const bool stands = !result.plan_grew && num_undone_before_ == result.num_undone;
    num_undone_before_ = result.num_undone;
    return !wants_more || stands || !follower_.stops().empty();
  }

  ClusterResult left_alone() const {
    ClusterResult left;
    left.end = surroundings_.is_told_to_stop() ? ClusterEnd::kToldToStop : ClusterEnd::kJobsGoOn;
    left.stops = follower_.stops();
    left.open = store_.open();
    return left;
  }

  ClusterResult ended(engine::EngineResult result) const {
    ClusterResult ended;
    if (result.end == engine::EngineEnd::kComplete && result.num_undone > 0) result.end = engine::EngineEnd::kTrialsLeft;
    ended.result = std::move(result);
    ended.stops = follower_.stops();
    return ended;
  }

  std::optional<base::Error> submit_what_is_left(const engine::EngineResult& collected) {
    const auto turn = take_turn(options_.workspace, submitter_.study(), surroundings_);
    if (!turn) return turn.error();
    if (!store_.open().empty()) return std::nullopt;  // another login came first
    const auto shape = shape_named(options_.slurm.shape);
    for (const auto& tasks : submitter_.split(parts_left(collected.study.plan, engine::StudyFolder(root_), shape)))
      if (auto problem = take(submitter_.submit(tasks))) return problem;
    return std::nullopt;
  }

  // Of submissions that a death left between the intent and its answer.
  std::optional<base::Error> look_for_lost_answers() {
    const auto turn = take_turn(options_.workspace, submitter_.study(), surroundings_);
    if (!turn) return turn.error();
    for (Submission& submission : store_.open())
      if (!submission.job_id && !submission.submit_unix_ns && !submission.cancel_unix_ns)
        if (auto problem = take(submitter_.reconcile(std::move(submission)))) return problem;
    return std::nullopt;
  }

  // What was submitted before a refusal goes on, and is followed by the next run.
  std::optional<base::Error> take(const SubmitResult& result) {
    if (result.end != SubmitEnd::kSubmitted) return base::Error{result.message};
    watcher_.submitted(result.submission);
    return std::nullopt;
  }

  const base::StudyPlan& plan_;
  const ClusterOptions& options_;
  const Surroundings& surroundings_;
  engine::Listener& listener_;
  Watcher& watcher_;
  std::filesystem::path root_;
  SubmissionStore store_;
  Cluster cluster_;
  Submitter submitter_;
  DoneTrials trials_;
  Follower follower_;
  std::optional<std::int64_t> num_undone_before_;
};

}  // namespace

base::Result<ClusterResult> carry_out_on_cluster(const base::StudyPlan& plan, const ClusterOptions& options,
                                                 const Surroundings& surroundings, engine::Listener& listener, Watcher& watcher) {
  return ClusterStudy(plan, options, surroundings, listener, watcher).run();
}

}  // namespace rematch::slurm
