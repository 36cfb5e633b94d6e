// What Slurm says of jobs: the texts of squeue and sacct, read to one row a job or array element. The same columns are asked for of every
// version; a reader tolerates further ones behind them. Pure. What is not in a text is null or empty.
// squeue with -t all knows all that the controller knows, so `scontrol show job` is not asked.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rematch::slurm {

enum class JobState {
  kPending,  // held, requeued and waiting included
  kRunning,  // and whatever comes between the queue and the end: configuring, completing, suspended, ...
  kCompleted,
  kFailed,
  kCancelled,
  kTimeout,
  kOutOfMemory,
  kNodeFail,  // boot failures too
  kPreempted,
  kOther,  // a word that is not known here: nothing is concluded from it
};

std::string_view to_string(JobState state);  // Slurm's word
// By its first word: "CANCELLED by 0", "RUNNING,COMPLETING" and "COMPLETED+" are understood.
JobState parse_job_state(std::string_view text);
// It may still run, or run again, by itself. True of kOther.
bool is_active(JobState state);

struct JobRow {
  std::int64_t job_id = 0;
  std::optional<std::int64_t> array_job_id;   // null: no array
  std::optional<std::int64_t> array_task_id;  // null: no array, or elements that have not been told apart yet
  JobState state = JobState::kOther;
  std::string state_text;  // as Slurm wrote it
  std::string reason;      // for people, but for the words in decide.cpp
  std::optional<std::int64_t> exit_code;
  std::optional<std::int64_t> signal;  // that ended it; null: none
  std::optional<std::int64_t> restart_count;
  std::string node_list;
  std::string submit_time;  // Slurm's texts, in its time zone; empty: not yet
  std::string start_time;
  std::string end_time;
  std::string name;
};

// Of one user, given by number, every state, an array element a line. Names narrow what is printed; more than `kMostNames` would make the
// command line too long, so that the reader has to choose.
inline constexpr std::size_t kMostNames = 200;
std::vector<std::string> squeue_command(std::int64_t user_id, const std::vector<std::string>& names);
// Lines that are no row of that command are left out.
std::vector<JobRow> parse_squeue(std::string_view text);

// Every attempt of jobs of these names, in order of submission, of the time `back` before now.
std::vector<std::string> sacct_command(std::int64_t user_id, const std::vector<std::string>& names, std::chrono::minutes back);
std::vector<JobRow> parse_sacct(std::string_view text);

}  // namespace rematch::slurm
