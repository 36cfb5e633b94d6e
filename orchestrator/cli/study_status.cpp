#include "orchestrator/cli/study_status.h"

#include <fmt/format.h>
#include <unistd.h>

#include <map>

#include "orchestrator/base/planned_provenance.h"
#include "orchestrator/base/study_plan.h"
#include "orchestrator/cli/study_folders.h"
#include "orchestrator/launch/process.h"
#include "orchestrator/slurm/cluster.h"
#include "orchestrator/slurm/submission_store.h"
#include "orchestrator/store/store.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

namespace {

namespace fs = std::filesystem;

// What the database knows, which is read many times faster than the plans of the folders. Of a damaged one nothing is known: the folders
// tell the rest, and `doctor` says what to do.
class StoredStudies {
 public:
  explicit StoredStudies(const fs::path& workspace) {
    const protocol::WorkspacePaths paths{workspace};
    if (!fs::exists(paths.database())) return;
    auto opened = store::Store::open_to_read(paths.database());
    if (!opened) return;
    try {
      const store::Store store = std::move(opened).value();
      for (const store::StudySummary& summary : store.studies()) {
        const fs::path folder = paths.study(summary.name, summary.study_id);
        by_folder_[folder.filename()] = {summary, engine::StudyFolder(folder).num_marked_done(store.attempt_keys(summary.study_id))};
      }
    } catch (const store::StoreError&) {
      by_folder_.clear();
    }
  }

  struct Known {
    store::StudySummary summary;
    std::int64_t num_done = 0;  // what is marked done was stored before
  };
  const Known* find(const fs::path& study_folder) const {
    const auto found = by_folder_.find(study_folder.filename());
    return found == by_folder_.end() ? nullptr : &found->second;
  }

 private:
  std::map<fs::path, Known> by_folder_;
};

StudyStatus status_by_plan(const fs::path& study_folder, const base::StudyPlan& plan) {
  return {.name = plan.name,
          .study_id = plan.study_id,
          .provenance = base::planned_provenance(plan),
          .num_planned = static_cast<std::int64_t>(plan.trials.size()),
          .num_done = engine::StudyFolder(study_folder).num_done(plan),
          .is_at_its_end = !base::awaits_decision(plan)};
}

StudyStatus status_by_rows(const StoredStudies::Known& known) {
  return {.name = known.summary.name,
          .study_id = known.summary.study_id,
          .provenance = known.summary.provenance,
          .num_planned = known.summary.num_trials,
          .num_done = known.num_done,
          .num_failed_attempts = known.summary.num_failed_attempts,
          .is_at_its_end = !known.summary.awaits_decision};
}

struct Study {
  fs::path folder;
  std::vector<protocol::Submission> submissions;
};

std::vector<Study> all_studies(const fs::path& workspace) {
  std::vector<Study> studies;
  for (const fs::path& folder : study_folders(workspace)) studies.push_back({folder, slurm::SubmissionStore(folder).all()});
  return studies;
}

QueueAnswer ask_slurm(const std::vector<Study>& studies, slurm::Client& client) {
  std::vector<std::string> names;
  for (const Study& study : studies)
    for (const protocol::Submission& submission : study.submissions)
      if (!submission.close_unix_ns) names.push_back(submission.name);
  if (names.empty()) return std::vector<slurm::JobRow>{};
  return slurm::Cluster(client, static_cast<std::int64_t>(::getuid())).queue(names);
}

StudyStatus status_of(const Study& study, const StoredStudies& stored, const std::optional<engine::WorkspaceHolder>& holder,
                      const QueueAnswer& queue) {
  const bool runs = holder && holder->study == study.folder.filename();
  const StoredStudies::Known* known = stored.find(study.folder);
  std::optional<base::StudyPlan> plan;
  // Of a study in jobs the database knows no more than was collected.
  const bool by_folders = known == nullptr || !study.submissions.empty();
  if (runs || by_folders) plan = base::read_study_plan(protocol::StudyPaths{study.folder}.plan().string());
  StudyStatus status = by_folders ? status_by_plan(study.folder, *plan) : status_by_rows(*known);
  if (known != nullptr) status.num_failed_attempts = known->summary.num_failed_attempts;
  if (!study.submissions.empty()) status.cluster = cluster_status({study.folder, *plan, study.submissions, queue, launch::unix_now_ns()});
  if (!runs) return status;
  status.holder = holder;
  if (!status.cluster) status.running = find_running(engine::StudyFolder(study.folder), *plan);
  return status;
}

}  // namespace

std::vector<StudyStatus> all_statuses(const fs::path& workspace, slurm::Client& client) {
  const std::vector<Study> studies = all_studies(workspace);
  const StoredStudies stored(workspace);
  const auto holder = engine::WorkspaceLock::holder(workspace);
  const QueueAnswer queue = ask_slurm(studies, client);
  std::vector<StudyStatus> statuses;
  for (const Study& study : studies) statuses.push_back(status_of(study, stored, holder, queue));
  return statuses;
}

std::string state_text(const StudyStatus& status) {
  if (status.cluster) return cluster_text(*status.cluster) + (status.holder ? "; being submitted or collected" : "");
  if (status.holder)
    return fmt::format("running in process {} on {}", status.holder->pid, status.holder->host) +
           (status.running ? ": " + running_text(*status.running) : "");
  if (status.num_done < status.num_planned) return "stopped; run again to go on";
  return status.is_at_its_end ? "complete" : "stopped between rounds; run again to go on";
}

}  // namespace rematch::cli
