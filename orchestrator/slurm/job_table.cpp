#include "orchestrator/slurm/job_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "orchestrator/base/whole_number.h"
#include "orchestrator/spec/nearest.h"

namespace rematch::slurm {

namespace {

struct StateWord {
  std::string_view word;
  JobState state;
};

constexpr std::array kStateWords = {
    StateWord{"PENDING", JobState::kPending},           StateWord{"REQUEUED", JobState::kPending},
    StateWord{"REQUEUE_HOLD", JobState::kPending},      StateWord{"REQUEUE_FED", JobState::kPending},
    StateWord{"SPECIAL_EXIT", JobState::kPending},      StateWord{"RESV_DEL_HOLD", JobState::kPending},
    StateWord{"RUNNING", JobState::kRunning},           StateWord{"CONFIGURING", JobState::kRunning},
    StateWord{"COMPLETING", JobState::kRunning},        StateWord{"SUSPENDED", JobState::kRunning},
    StateWord{"STOPPED", JobState::kRunning},           StateWord{"RESIZING", JobState::kRunning},
    StateWord{"SIGNALING", JobState::kRunning},         StateWord{"STAGE_OUT", JobState::kRunning},
    StateWord{"COMPLETED", JobState::kCompleted},       StateWord{"FAILED", JobState::kFailed},
    StateWord{"CANCELLED", JobState::kCancelled},       StateWord{"REVOKED", JobState::kCancelled},
    StateWord{"TIMEOUT", JobState::kTimeout},           StateWord{"DEADLINE", JobState::kTimeout},
    StateWord{"OUT_OF_MEMORY", JobState::kOutOfMemory}, StateWord{"NODE_FAIL", JobState::kNodeFail},
    StateWord{"BOOT_FAIL", JobState::kNodeFail},        StateWord{"LAUNCH_FAILED", JobState::kNodeFail},
    StateWord{"PREEMPTED", JobState::kPreempted},
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Slurm has several words for a time, a list or a name that is not there.
std::string known(std::string_view text) {
  for (const std::string_view nothing : {"N/A", "Unknown", "(null)", "None assigned", "None"})
    if (text == nothing) return "";
  return std::string(text);
}

// "42:0": exit code and signal.
void read_exit(JobRow& row, std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() != 2) return;
  row.exit_code = base::whole_number(parts[0]);
  row.signal = base::whole_number(parts[1]);
  if (row.signal == 0) row.signal.reset();
}

void read_state(JobRow& row, std::string_view text) {
  row.state_text = text;
  row.state = parse_job_state(text);
}

// What waitpid() would have given.
void read_wait_status(JobRow& row, std::string_view text) {
  const auto status = base::whole_number(text);
  if (!status) return;
  row.exit_code = *status >> 8 & 0xff;
  if ((*status & 0x7f) != 0) row.signal = *status & 0x7f;
}

std::optional<JobRow> squeue_row(std::string_view line) {
  const auto cells = split(line, '|');
  constexpr std::size_t kColumns = 12;
  if (cells.size() < kColumns) return std::nullopt;
  JobRow row;
  const auto id = base::whole_number(cells[0]);
  if (!id) return std::nullopt;
  row.job_id = *id;
  row.array_task_id = base::whole_number(cells[2]);
  if (cells[2] != "N/A" && !cells[2].empty()) row.array_job_id = base::whole_number(cells[1]);
  read_state(row, cells[3]);
  row.reason = known(cells[4]);
  read_wait_status(row, cells[5]);
  row.restart_count = base::whole_number(cells[6]);
  row.node_list = known(cells[7]);
  row.submit_time = known(cells[8]);
  row.start_time = known(cells[9]);
  row.end_time = known(cells[10]);
  row.name = cells[11];
  return row;
}

// "9_2" of element 2 of array 9, "9_[3-7%2]" of those that still wait together.
void read_element(JobRow& row, std::string_view text) {
  const auto gap = text.find('_');
  if (gap == std::string_view::npos) return;
  row.array_job_id = base::whole_number(text.substr(0, gap));
  row.array_task_id = base::whole_number(text.substr(gap + 1));
}

std::optional<JobRow> sacct_row(std::string_view line) {
  const auto cells = split(line, '|');
  constexpr std::size_t kColumns = 9;
  if (cells.size() < kColumns) return std::nullopt;
  JobRow row;
  const auto id = base::whole_number(cells[0]);
  if (!id) return std::nullopt;
  row.job_id = *id;
  read_element(row, cells[1]);
  row.name = cells[2];
  read_state(row, cells[3]);
  read_exit(row, cells[4]);
  row.submit_time = known(cells[5]);
  row.start_time = known(cells[6]);
  row.end_time = known(cells[7]);
  row.node_list = known(cells[8]);
  return row;
}

std::vector<JobRow> rows_of(std::string_view text, std::optional<JobRow> (*read)(std::string_view)) {
  std::vector<JobRow> rows;
  for (const std::string_view line : split(text, '\n'))
    if (auto row = read(line)) rows.push_back(*std::move(row));
  return rows;
}

}  // namespace

std::string_view to_string(JobState state) {
  switch (state) {
    case JobState::kPending: return "PENDING";
    case JobState::kRunning: return "RUNNING";
    case JobState::kCompleted: return "COMPLETED";
    case JobState::kFailed: return "FAILED";
    case JobState::kCancelled: return "CANCELLED";
    case JobState::kTimeout: return "TIMEOUT";
    case JobState::kOutOfMemory: return "OUT_OF_MEMORY";
    case JobState::kNodeFail: return "NODE_FAIL";
    case JobState::kPreempted: return "PREEMPTED";
    case JobState::kOther: break;
  }
  return "unknown";
}

JobState parse_job_state(std::string_view text) {
  const std::string_view word = text.substr(0, text.find_first_of(" ,+"));
  const auto* found = std::find_if(kStateWords.begin(), kStateWords.end(), [&](const StateWord& known) { return known.word == word; });
  if (found == kStateWords.end()) return JobState::kOther;
  // A flag behind the state: the job is not at its end yet.
  if (text.find(",COMPLETING") != std::string_view::npos) return JobState::kRunning;
  return found->state;
}

bool is_active(JobState state) {
  switch (state) {
    case JobState::kPending:
    case JobState::kRunning:
    case JobState::kOther: return true;
    case JobState::kCompleted:
    case JobState::kFailed:
    case JobState::kCancelled:
    case JobState::kTimeout:
    case JobState::kOutOfMemory:
    case JobState::kNodeFail:
    case JobState::kPreempted: break;
  }
  return false;
}

std::vector<std::string> squeue_command(std::int64_t user_id, const std::vector<std::string>& names) {
  std::vector<std::string> command = {"squeue", "-h", "-t", "all", "-r", "-u", std::to_string(user_id)};
  if (!names.empty() && names.size() <= kMostNames) command.insert(command.end(), {"-n", spec::join(names, ",")});
  command.insert(command.end(), {"-O",
                                 "JobID:|,ArrayJobID:|,ArrayTaskID:|,State:|,Reason:|,exit_code:|,RestartCnt:|,NodeList:|,SubmitTime:|,"
                                 "StartTime:|,EndTime:|,Name:|"});
  return command;
}

std::vector<JobRow> parse_squeue(std::string_view text) { return rows_of(text, squeue_row); }

std::vector<std::string> sacct_command(std::int64_t user_id, const std::vector<std::string>& names, std::chrono::minutes back) {
  std::vector<std::string> command = {"sacct", "-X", "-n", "-P", "-D", "-u", std::to_string(user_id)};
  if (!names.empty() && names.size() <= kMostNames) command.insert(command.end(), {"--name", spec::join(names, ",")});
  command.insert(command.end(), {"-S", "now-" + std::to_string(back.count()) + "minutes", "-o",
                                 "JobIDRaw,JobID,JobName,State,ExitCode,Submit,Start,End,NodeList"});
  return command;
}

std::vector<JobRow> parse_sacct(std::string_view text) { return rows_of(text, sacct_row); }

}  // namespace rematch::slurm
