#include "orchestrator/cli/cluster_status.h"

#include <time.h>

#include <algorithm>
#include <chrono>

#include "orchestrator/base/study_plan.h"
#include "orchestrator/slurm/launch_problem.h"
#include "orchestrator/slurm/parts.h"
#include "orchestrator/slurm/runner_watch.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

namespace {

using protocol::RunnerRecord;
using protocol::Submission;
using protocol::SubmissionTask;
using slurm::JobRow;
using slurm::JobSight;

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

bool is_whole_study(const SubmissionTask& task) { return !task.block && !task.trial_id; }

// The row of a job's element; of several jobs of that name the last.
const JobRow* row_of(const std::vector<JobRow>& rows, const Submission& submission, std::size_t index) {
  const JobRow* found = nullptr;
  for (const JobRow& row : rows) {
    const bool is_element = submission.shape != protocol::SubmissionShape::kArray || row.array_task_id == static_cast<std::int64_t>(index);
    if (row.name == submission.name && is_element) found = &row;
  }
  return found;
}

class Look {
 public:
  explicit Look(const ClusterLook& look)
      : look_(look), folder_(look.study_folder), done_(look.plan, folder_), runners_(protocol::StudyPaths{look.study_folder}.runners()) {
    done_.look_at_all();
    runners_.look(std::chrono::steady_clock::now());
  }

  ClusterStatus run() {
    ClusterStatus status;
    status.num_submissions = static_cast<std::int64_t>(look_.submissions.size());
    status.is_complete = done_.num_done() == done_.num_planned() && !base::awaits_decision(look_.plan);
    for (const Submission& submission : look_.submissions) {
      if (submission.close_unix_ns) continue;
      for (std::size_t i = 0; i < submission.tasks.size(); ++i) status.jobs.push_back(job_of(submission, i));
    }
    if (!look_.queue && !status.jobs.empty()) status.slurm_problem = look_.queue.error().message;
    if (status.jobs.empty()) status.last_message = look_.submissions.back().message;
    return status;
  }

 private:
  JobStatus job_of(const Submission& submission, std::size_t index) {
    const SubmissionTask& task = submission.tasks[index];
    const JobRow* row = look_.queue ? row_of(look_.queue.value(), submission, index) : nullptr;
    JobStatus job{.submission = submission.name, .scope = protocol::scope_of(task)};
    job.job = submission.job_id ? std::to_string(*submission.job_id) : submission.name;
    if (submission.shape == protocol::SubmissionShape::kArray) job.job += "_" + std::to_string(index);
    job.state = row != nullptr ? row->state_text : look_.queue ? "gone" : "unknown";
    if (row != nullptr) add_row(job, *row);
    if (const RunnerRecord* runner = runners_.newest(job.scope)) add_runner(job, *runner);
    job.decision = slurm::decide(facts_of(submission, task, job, row));
    if (job.decision.id == "runner-lives" || job.decision.id == "active") job.trial = find_running(folder_, look_.plan, task);
    return job;
  }

  void add_row(JobStatus& job, const JobRow& row) const {
    if (!row.array_job_id && row.job_id > 0) job.job = std::to_string(row.job_id);
    job.reason = row.reason;
    job.nodes = row.node_list;
    job.restart_count = row.restart_count;
    if (const auto end = unix_seconds_of(row.end_time); end && row.state == slurm::JobState::kRunning)
      job.seconds_left = std::max<std::int64_t>(*end - look_.now_unix_ns / kNsPerSecond, 0);
  }

  void add_runner(JobStatus& job, const RunnerRecord& runner) const {
    job.runner = runner;
    if (!runner.end) job.heartbeat_age_s = std::max<std::int64_t>((look_.now_unix_ns - runner.heartbeat_unix_ns) / kNsPerSecond, 0);
  }

  slurm::PartFacts facts_of(const Submission& submission, const SubmissionTask& task, const JobStatus& job, const JobRow* row) {
    slurm::PartFacts facts;
    const bool is_of_this = job.runner && job.runner->submission == submission.name;
    if (is_of_this) facts.runner_end = job.runner->end;
    if (is_of_this) facts.runner_message = job.runner->message;
    facts.has_runner = is_of_this;
    facts.study_id = submission.study_id;
    facts.runner_is_alive = job.heartbeat_age_s && std::chrono::seconds(*job.heartbeat_age_s) < slurm::kHeartbeatStands;
    facts.is_done = done_.is_done(task);
    if (is_whole_study(task) && base::awaits_decision(look_.plan))
      facts.is_done = facts.is_done && facts.runner_end == protocol::RunnerEnd::kComplete;
    facts.is_cancelled = submission.cancel_unix_ns.has_value();
    facts.job = row != nullptr ? JobSight::kSeen : look_.queue ? JobSight::kGone : JobSight::kUnknown;
    if (row != nullptr) facts.state = row->state;
    if (row != nullptr) facts.reason = row->reason;
    if (row != nullptr && !slurm::is_active(row->state) && !row->signal) facts.exit_code = row->exit_code;
    const auto end = row != nullptr ? unix_seconds_of(row->end_time) : std::nullopt;
    const std::int64_t now_s = look_.now_unix_ns / kNsPerSecond;
    facts.seconds_since_end = end ? static_cast<double>(now_s - *end) : slurm::kFileLagSeconds;
    facts.has_progressed = !facts.is_done && done_.has_block_since(task, submission.intent_unix_ns);
    if (facts.runner_end == protocol::RunnerEnd::kTrialsLeft)
      facts.launch_problem = slurm::common_launch_problem(done_.plan(), folder_, task, submission.intent_unix_ns);
    return facts;
  }

  const ClusterLook& look_;
  engine::StudyFolder folder_;
  slurm::DoneTrials done_;
  slurm::RunnerWatch runners_;
};

}  // namespace

ClusterStatus cluster_status(const ClusterLook& look) { return Look(look).run(); }

std::optional<std::int64_t> unix_seconds_of(const std::string& slurm_time) {
  struct tm parts {};
  const char* end = ::strptime(slurm_time.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  parts.tm_isdst = -1;
  return static_cast<std::int64_t>(::mktime(&parts));
}

}  // namespace rematch::cli
