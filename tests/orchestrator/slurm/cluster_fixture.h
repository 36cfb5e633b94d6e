// A study of some blocks with two trials each in a temporary workspace, a Slurm in memory, and runners that are files written by a test.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "orchestrator/engine/study_folder.h"
#include "orchestrator/slurm/cluster.h"
#include "orchestrator/slurm/follow.h"
#include "orchestrator/slurm/submission_store.h"
#include "orchestrator/slurm/submit.h"
#include "schemas/protocol/launch_record.h"
#include "schemas/protocol/record_file.h"
#include "schemas/protocol/runner_record.h"
#include "tests/orchestrator/slurm/fake_slurm.h"
#include "tests/support/make_trial.h"
#include "tests/support/temp_dir.h"

namespace rematch::tests {

class RecordingWatcher final : public slurm::Watcher {
 public:
  void submitted(const protocol::Submission& submission) override { submissions.push_back(submission); }
  void sighted(const slurm::StudySight& sight) override { last = sight; }
  void remarked(const std::string& message) override { remarks.push_back(message); }
  bool has_said(const std::string& words) const {
    return std::any_of(remarks.begin(), remarks.end(), [&](const std::string& remark) { return remark.find(words) != std::string::npos; });
  }

  std::vector<protocol::Submission> submissions;
  std::vector<std::string> remarks;
  slurm::StudySight last;
};

inline base::StudyPlan plan_of_blocks(std::int64_t num_blocks) {
  base::StudyPlan plan;
  plan.study_id = "00000000000000cc";
  plan.name = "first";
  plan.strategy = "one_label";
  plan.num_blocks = num_blocks;
  const protocol::Trial like = make_trial();
  plan.arms.push_back({.arm = like.arm, .group_id = like.group_id, .is_control = true, .recompute = like.recompute});
  for (std::int64_t block = 0; block < num_blocks; ++block)
    for (std::int64_t slot = 0; slot < 2; ++slot) {
      protocol::Trial trial = make_trial();
      char id[32];
      std::snprintf(id, sizeof id, "%016llx", static_cast<unsigned long long>(block * 2 + slot + 1));
      trial.trial_id = id;
      trial.block = block;
      trial.slot = slot;
      plan.trials.push_back(trial);
    }
  return plan;
}

class ClusterFixture : public ::testing::Test {
 protected:
  explicit ClusterFixture(const std::string& shape = "allocation", std::int64_t num_blocks = 2)
      : plan_(plan_of_blocks(num_blocks)), setup_(setup_of(shape)) {
    folder_.write_plan(plan_);
  }

  slurm::JobSetup setup_of(const std::string& shape) const {
    slurm::JobSetup setup;
    setup.slurm.shape = shape;
    setup.job.rematch = "/opt/rematch";
    setup.job.workspace = workspace_.path();
    setup.job.trainer = "/opt/trainer";
    setup.job.study = root_;
    setup.study_name = plan_.name;
    setup.study_id = plan_.study_id;
    return setup;
  }

  void finish(const protocol::Trial& trial) {
    const engine::AttemptOnDisk attempt = folder_.begin_attempt(trial);
    protocol::LaunchRecord record;
    record.trial_id = trial.trial_id;
    record.end_unix_ns = end_unix_ns_;
    protocol::write_file_unsynced(protocol::AttemptPaths{attempt.folder}.launch(), protocol::to_json(record).dump());
    const nlohmann::json done{{"schema", engine::kDoneSchema}, {"trial_id", trial.trial_id}, {"attempt", attempt.attempt}};
    protocol::write_file_unsynced(protocol::AttemptPaths{attempt.folder}.done(), done.dump());
  }

  void fail_to_launch(const protocol::Trial& trial, const std::string& message) {
    protocol::LaunchRecord record;
    record.trial_id = trial.trial_id;
    record.start_unix_ns = record.end_unix_ns = std::int64_t{1} << 62;
    record.end = protocol::LaunchEnd::kLaunchFailed;
    record.message = message;
    const auto folder = folder_.begin_attempt(trial).folder;
    protocol::write_file_unsynced(protocol::AttemptPaths{folder}.launch(), protocol::to_json(record).dump());
  }

  void finish_block(std::int64_t block) {
    for (const protocol::Trial& trial : plan_.trials)
      if (trial.block == block) finish(trial);
  }

  void finish_all() {
    for (const protocol::Trial& trial : plan_.trials) finish(trial);
  }

  // As the runner of that submission writes it; nullopt: it lives.
  void write_runner(const std::string& scope, std::int64_t epoch, const std::string& submission, std::optional<protocol::RunnerEnd> end,
                    std::int64_t heartbeat = 1, const std::string& message = "") {
    protocol::RunnerRecord record;
    record.scope = scope;
    record.epoch = epoch;
    record.runner_id = "00000000000000dd";
    record.submission = submission;
    record.host = "n1";
    record.heartbeat = heartbeat;
    record.end = end;
    if (end) record.end_unix_ns = 1;
    record.message = message;
    const auto path = store_.paths().runner(scope, epoch);
    std::filesystem::create_directories(path.parent_path());
    protocol::write_file_unsynced(path, protocol::to_json(record).dump());
    std::filesystem::last_write_time(path, std::filesystem::file_time_type(std::chrono::seconds(++num_writes_)));
  }

  std::vector<protocol::SubmissionTask> parts() const { return slurm::parts_left(plan_, folder_, slurm::shape_named(setup_.slurm.shape)); }

  protocol::Submission submit_all() {
    for (const auto& tasks : submitter_.split(parts())) last_ = submitter_.submit(tasks);
    return last_.submission;
  }

  bool follow(slurm::FollowUntil until = slurm::FollowUntil::kAllEnded) { return follower_.follow(until); }

  TempDir workspace_;
  base::StudyPlan plan_;
  std::filesystem::path root_ = protocol::WorkspacePaths{workspace_.path()}.study(plan_.name, plan_.study_id);
  engine::StudyFolder folder_{root_};
  slurm::SubmissionStore store_{root_};
  slurm::JobSetup setup_;
  FakeSlurm slurm_;
  slurm::Surroundings surroundings_ = slurm_.surroundings();
  slurm::Cluster cluster_{slurm_, 1000};
  slurm::Submitter submitter_{cluster_, store_, setup_, surroundings_};
  RecordingWatcher watcher_;
  slurm::DoneTrials trials_{plan_, folder_};
  slurm::Follower follower_{surroundings_, cluster_, submitter_, store_, trials_, watcher_, workspace_.path()};
  slurm::SubmitResult last_;
  int num_writes_ = 0;
  std::int64_t end_unix_ns_ = std::int64_t{1} << 62;  // of what is finished: after everything else
};

}  // namespace rematch::tests
