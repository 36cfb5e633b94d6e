// How a study stands, in numbers and in words.
#include "orchestrator/slurm/follow.h"
#include "orchestrator/spec/nearest.h"

namespace rematch::slurm {

std::string sight_text(const StudySight& sight) {
  std::vector<std::string> jobs;
  for (const auto& [word, num] : sight.num_jobs) jobs.push_back(sight.job.empty() ? std::to_string(num) + " " + word : word);
  std::string text = (sight.job.empty() ? "jobs" : "job " + sight.job) + ": " + (jobs.empty() ? "none" : spec::join(jobs, ", ")) + "; " +
                     std::to_string(sight.num_done) + " of " + std::to_string(sight.num_planned) + " trials done";
  if (sight.in_flight)
    text += "; " + sight.in_flight->arm + ", block " + std::to_string(sight.in_flight->block) + ", slot " +
            std::to_string(sight.in_flight->slot);
  return text;
}

StudySight Follower::sight() const {
  StudySight sight;
  sight.num_done = trials_.num_done();
  sight.num_planned = trials_.num_planned();
  for (const Part& part : parts_) {
    if (part.is_settled) continue;
    std::string word = "unknown to Slurm";
    if (part.job == JobSight::kUnknown) word = "submitted";
    const protocol::RunnerRecord* runner = runners_.newest(part.scope);
    const bool has_started = runner != nullptr && runner->submission == part.submission && !runner->end;
    if (part.job == JobSight::kSeen) word = part.row->state_text;
    if (part.job == JobSight::kSeen && part.row->state == JobState::kPending && !part.row->reason.empty())
      word += " (" + part.row->reason + ")";
    const bool is_behind = part.job == JobSight::kUnknown || (part.job == JobSight::kSeen && part.row->state == JobState::kPending);
    if (has_started && is_behind) word = to_string(JobState::kRunning);
    ++sight.num_jobs[word];
    if (!sight.in_flight && runner != nullptr) sight.in_flight = trials_.in_flight(part.task);
  }
  if (parts_.size() == 1) {
    const Part& only = parts_.front();
    const auto& job_id = open_.at(only.submission).job_id;
    sight.job = job_id ? std::to_string(*job_id) : only.submission;
    if (only.row && !only.row->node_list.empty()) sight.job += " on " + only.row->node_list;
  }
  return sight;
}

}  // namespace rematch::slurm
