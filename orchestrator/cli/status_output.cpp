#include "orchestrator/cli/status_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "orchestrator/cli/display_width.h"
#include "orchestrator/cli/progress.h"

namespace rematch::cli {

namespace {

using nlohmann::json;

constexpr int kStatusSchemaVersion = 2;
constexpr std::size_t kMostJobLines = 20;  // of one study

template <typename T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json trial_document(const std::optional<RunningTrial>& trial) {
  if (!trial) return nullptr;
  return {{"arm", trial->arm},
          {"block", trial->block},
          {"slot", trial->slot},
          {"num_steps_completed", trial->num_steps_completed},
          {"num_steps", trial->num_steps}};
}

json runner_document(const JobStatus& job) {
  if (!job.runner) return nullptr;
  json document{{"epoch", job.runner->epoch},
                {"submission", job.runner->submission},
                {"host", job.runner->host},
                {"nodes", job.runner->nodes},
                {"end", nullptr},
                {"message", job.runner->message}};
  if (job.runner->end) document["end"] = protocol::to_string(*job.runner->end);
  document["heartbeat_age_s"] = or_null(job.heartbeat_age_s);
  return document;
}

json job_document(const JobStatus& job) {
  return {{"submission", job.submission},
          {"scope", job.scope},
          {"job", job.job},
          {"state", job.state},
          {"reason", job.reason},
          {"nodes", job.nodes},
          {"restart_count", or_null(job.restart_count)},
          {"seconds_left", or_null(job.seconds_left)},
          {"runner", runner_document(job)},
          {"trial", trial_document(job.trial)},
          {"decision", job.decision.id},
          {"because", job.decision.reason},
          {"advice", advice_of(job)}};
}

json cluster_document(const std::optional<ClusterStatus>& status) {
  if (!status) return nullptr;
  json document{{"num_submissions", status->num_submissions}, {"jobs", json::array()}};
  document["slurm_problem"] = status->slurm_problem.empty() ? json(nullptr) : json(status->slurm_problem);
  for (const JobStatus& job : status->jobs) document["jobs"].push_back(job_document(job));
  return document;
}

json to_json(const StudyStatus& status) {
  json document{{"name", status.name},
                {"study_id", status.study_id},
                {"num_planned", status.num_planned},
                {"num_done", status.num_done},
                {"num_failed_attempts", or_null(status.num_failed_attempts)},
                {"provenance", nullptr},
                {"running", nullptr},
                {"is_at_its_end", status.is_at_its_end},
                {"state", state_text(status)},
                {"cluster", cluster_document(status.cluster)}};
  if (status.provenance) document["provenance"] = protocol::to_string(*status.provenance);
  if (status.holder)
    document["running"] = {{"pid", status.holder->pid}, {"host", status.holder->host}, {"trial", trial_document(status.running)}};
  return document;
}

// Nothing that tells it from others that wait: no runner, no nodes, nothing to do.
bool only_waits(const JobStatus& job) { return !job.trial && job.nodes.empty() && advice_of(job).empty(); }

std::string job_text(const JobStatus& job) {
  std::string text = "  job " + job.job + (job.scope == "study" ? "" : ", " + job.scope) + ": " + job.state;
  if (!job.reason.empty()) text += " (" + job.reason + ")";
  if (!job.nodes.empty()) text += " on " + job.nodes;
  if (job.seconds_left) text += ", " + duration_text(static_cast<double>(*job.seconds_left)) + " left";
  if (job.restart_count.value_or(0) > 0) text += ", restarts: " + std::to_string(*job.restart_count);
  if (job.trial) text += "; " + running_text(*job.trial);
  if (job.runner && job.runner->end) text += "; its runner ended: " + std::string(protocol::to_string(*job.runner->end));
  if (job.heartbeat_age_s && !job.trial) text += "; its runner was last heard of " + std::to_string(*job.heartbeat_age_s) + " s ago";
  const std::string advice = advice_of(job);
  return text + (advice.empty() ? "" : "; " + advice) + "\n";
}

// Of many jobs those alone have a line that differ from the rest.
std::string cluster_lines(const ClusterStatus& status) {
  std::string text;
  if (!status.slurm_problem.empty()) text += "  Slurm does not answer: " + status.slurm_problem + "\n";
  const bool are_many = status.jobs.size() > 1;
  std::size_t num_done = 0;
  std::size_t num_waiting = 0;
  std::size_t num_lines = 0;
  for (const JobStatus& job : status.jobs) {
    if (are_many && job.decision.step == slurm::Step::kDone)
      ++num_done;
    else if (are_many && only_waits(job))
      ++num_waiting;
    else if (++num_lines <= kMostJobLines)
      text += job_text(job);
  }
  if (num_lines > kMostJobLines) text += fmt::format("  and {} more jobs; --json shows all\n", num_lines - kMostJobLines);
  if (num_waiting > 0) text += fmt::format("  jobs that wait: {}\n", num_waiting);
  if (num_done > 0) text += fmt::format("  jobs whose part is done: {}\n", num_done);
  return text;
}

struct StatusColumn {
  std::string title;
  std::string (*cell)(const StudyStatus&);
  bool is_number = false;
  int weight = 0;  // the column with the least goes first
};

constexpr int kKept = 100;  // never goes; the last column is cut instead

std::vector<StatusColumn> status_columns() {
  return {
      {"study", [](const StudyStatus& s) { return s.name; }, false, kKept},
      {"id", [](const StudyStatus& s) { return s.study_id; }, false, 1},
      {"provenance", [](const StudyStatus& s) { return std::string(s.provenance ? protocol::to_string(*s.provenance) : "-"); }, false, 2},
      {"done", [](const StudyStatus& s) { return std::to_string(s.num_done); }, true, kKept},
      {"planned", [](const StudyStatus& s) { return std::to_string(s.num_planned); }, true, kKept},
      {"failed attempts", [](const StudyStatus& s) { return s.num_failed_attempts ? std::to_string(*s.num_failed_attempts) : "-"; }, true,
       3},
      {"state", [](const StudyStatus& s) { return state_text(s); }, false, kKept}};
}

int width_of(const StatusColumn& column, const std::vector<StudyStatus>& statuses) {
  int width = display_width(column.title);
  for (const StudyStatus& status : statuses) width = std::max(width, display_width(column.cell(status)));
  return width;
}

// The state takes what is left; it wants so much at least.
constexpr int kLeastStateWidth = 24;

std::vector<StatusColumn> columns_that_fit(const std::vector<StudyStatus>& statuses, int num_columns) {
  std::vector<StatusColumn> columns = status_columns();
  const auto width = [&] {
    int sum = kLeastStateWidth;
    for (std::size_t i = 0; i + 1 < columns.size(); ++i) sum += width_of(columns[i], statuses) + 2;
    return sum;
  };
  while (width() > num_columns) {
    const auto lightest =
        std::min_element(columns.begin(), columns.end(), [](const auto& a, const auto& b) { return a.weight < b.weight; });
    if (lightest->weight == kKept) break;
    columns.erase(lightest);
  }
  return columns;
}

// The last column is as long as it is.
std::string status_line(const std::vector<StatusColumn>& columns, const std::vector<int>& widths, const StudyStatus* status) {
  std::string text;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string cell = status == nullptr ? columns[i].title : columns[i].cell(*status);
    if (i + 1 == columns.size()) return text + cell;
    const std::string gap(static_cast<std::size_t>(widths[i] - display_width(cell)), ' ');
    text += (columns[i].is_number ? gap + cell : cell + gap) + "  ";
  }
  return text;
}

void add_lines(const std::string& text, std::vector<std::string>& lines) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

std::string joined(std::vector<std::string> lines, const std::optional<TerminalSize>& size) {
  const std::size_t most = size ? static_cast<std::size_t>(std::max(2, size->num_rows - 1)) : lines.size();
  if (lines.size() > most) {
    const std::size_t num_left_out = lines.size() - most + 1;
    lines.resize(most - 1);
    lines.push_back(fmt::format("and {} more lines; `rematch status` prints all", num_left_out));
  }
  std::string text;
  for (const std::string& line : lines) text += (size ? cut_to_width(on_one_line(line), size->num_columns) : line) + "\n";
  return text;
}

}  // namespace

std::string status_table(const std::vector<StudyStatus>& statuses, const std::optional<TerminalSize>& size) {
  const std::vector<StatusColumn> columns = size ? columns_that_fit(statuses, size->num_columns) : status_columns();
  std::vector<int> widths;
  for (const StatusColumn& column : columns) widths.push_back(width_of(column, statuses));
  std::vector<std::string> lines = {status_line(columns, widths, nullptr)};
  for (const StudyStatus& status : statuses) {
    lines.push_back(status_line(columns, widths, &status));
    if (status.cluster) add_lines(cluster_lines(*status.cluster), lines);
  }
  return joined(std::move(lines), size);
}

json status_document(const std::vector<StudyStatus>& statuses) {
  json document{{"schema_version", kStatusSchemaVersion}, {"studies", json::array()}};
  for (const StudyStatus& status : statuses) document["studies"].push_back(to_json(status));
  return document;
}

}  // namespace rematch::cli
