// What Slurm says of a follower's jobs: one question a cycle, and one of accounting for those that the controller has forgotten.
#include <algorithm>
#include <utility>

#include "orchestrator/base/warnings.h"
#include "orchestrator/launch/process.h"
#include "orchestrator/slurm/follow.h"

namespace rematch::slurm {

namespace {

// Of several jobs of one name, which an sbatch sent twice can leave: one that goes on, else the youngest.
bool outranks(const JobRow& a, const JobRow& b) {
  return std::pair(is_active(a.state), a.job_id) > std::pair(is_active(b.state), b.job_id);
}

const JobRow* row_of(const std::vector<JobRow>& rows, const std::string& name, std::optional<std::int64_t> element) {
  const JobRow* best = nullptr;
  for (const JobRow& row : rows)
    if (row.name == name && row.array_task_id == element && (best == nullptr || outranks(row, *best))) best = &row;
  return best;
}

// Of accounting, which has a row an attempt: the last.
const JobRow* last_row_of(const std::vector<JobRow>& rows, const std::string& name, std::optional<std::int64_t> element) {
  const JobRow* last = nullptr;
  for (const JobRow& row : rows)
    if (row.name == name && row.array_task_id == element) last = &row;
  return last;
}

}  // namespace

void Follower::ask(Time now) {
  std::vector<std::string> names;
  for (const auto& [name, submission] : open_) names.push_back(name);
  policy_.called(now);
  const auto rows = cluster_.queue(names);
  if (!rows) {
    if (!slurm_is_silent_)
      watcher_.remarked(
          base::warning_line(base::WarningId::kSlurmSilent, "Slurm does not answer; what it said last holds: " + rows.error().message));
    slurm_is_silent_ = true;
    policy_.asked(now, false);
    return;
  }
  if (slurm_is_silent_) watcher_.remarked("Slurm answers again");
  slurm_is_silent_ = false;
  policy_.asked(now, take_rows(rows.value(), now));
}

std::optional<std::int64_t> Follower::element_of(const Part& part) const {
  if (open_.at(part.submission).shape != protocol::SubmissionShape::kArray) return std::nullopt;
  return part.index;
}

bool Follower::take_rows(const std::vector<JobRow>& rows, Time now) {
  bool has_changed = false;
  std::vector<Part*> missing;
  for (Part& part : parts_) {
    const JobRow* row = row_of(rows, part.submission, element_of(part));
    if (row != nullptr)
      has_changed = see(part, JobSight::kSeen, row, now) || has_changed;
    else if (!part.end_seen && !part.is_settled)
      missing.push_back(&part);
  }
  if (!missing.empty()) ask_history(missing, now);
  return has_changed || !missing.empty();
}

// Of the jobs that the controller has forgotten.
void Follower::ask_history(const std::vector<Part*>& missing, Time now) {
  std::vector<JobRow> past;
  if (cluster_.has_history()) {
    if (!policy_.may_call(now)) return;  // next time
    policy_.called(now);
    std::int64_t first_ns = launch::unix_now_ns();
    std::set<std::string> names;
    for (const Part* part : missing) {
      names.insert(part->submission);
      first_ns = std::min(first_ns, open_.at(part->submission).intent_unix_ns);
    }
    const auto back = std::chrono::minutes((launch::unix_now_ns() - first_ns) / 60'000'000'000 + 60);
    auto rows = cluster_.history({names.begin(), names.end()}, back);
    if (!rows) return;  // next time
    past = std::move(rows).value();
  }
  for (Part* part : missing) {
    const JobRow* row = last_row_of(past, part->submission, element_of(*part));
    const bool has_ended = row != nullptr && !is_active(row->state);
    see(*part, has_ended ? JobSight::kSeen : JobSight::kGone, has_ended ? row : nullptr, now);
  }
}

// True: it stands otherwise than before.
bool Follower::see(Part& part, JobSight job, const JobRow* row, Time now) {
  const bool is_same =
      part.job == job && (row == nullptr || (part.row && part.row->state == row->state && part.row->node_list == row->node_list));
  part.job = job;
  if (row != nullptr) part.row = *row;
  const bool is_over = job == JobSight::kGone || (row != nullptr && !is_active(row->state));
  if (!is_over) {
    part.end_seen.reset();
    part.was_active = true;
  }
  if (is_over && !part.end_seen) part.end_seen = now;
  return !is_same;
}

}  // namespace rematch::slurm
