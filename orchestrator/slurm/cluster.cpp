#include "orchestrator/slurm/cluster.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "orchestrator/slurm/cluster_config.h"

namespace rematch::slurm {

namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::vector<JobRow> of_names(std::vector<JobRow> rows, const std::vector<std::string>& names) {
  const std::set<std::string_view> wanted(names.begin(), names.end());
  std::erase_if(rows, [&](const JobRow& row) { return !wanted.contains(row.name); });
  return rows;
}

std::string id_text(const JobRow& row) {
  if (row.array_job_id && row.array_task_id) return std::to_string(*row.array_job_id) + "_" + std::to_string(*row.array_task_id);
  return std::to_string(row.job_id);
}

}  // namespace

base::Result<Answer> Cluster::call(const std::vector<std::string>& command) { return client_.call(command, kClientDeadline); }

base::Result<std::string> Cluster::ask(const std::vector<std::string>& command) {
  auto answer = call(command);
  if (!answer) return answer.error();
  if (answer.value().exit_code != 0)
    return base::Error{command.front() + " ended with exit code " + std::to_string(answer.value().exit_code) + ": " +
                       first_line(answer.value().error)};
  return std::move(answer).value().out;
}

base::Result<std::vector<JobRow>> Cluster::queue(const std::vector<std::string>& names) {
  const auto text = ask(squeue_command(user_id_, names));
  if (!text) return text.error();
  return of_names(parse_squeue(text.value()), names);
}

base::Result<std::vector<JobRow>> Cluster::history(const std::vector<std::string>& names, std::chrono::minutes back) {
  if (!has_history_) return std::vector<JobRow>{};
  auto answer = call(sacct_command(user_id_, names, back));
  if (!answer) return answer.error();
  if (answer.value().exit_code == 0) return of_names(parse_sacct(answer.value().out), names);
  const std::string& said = answer.value().error;
  if (said.find("disabled") == std::string::npos)
    return base::Error{"sacct ended with exit code " + std::to_string(answer.value().exit_code) + ": " + first_line(said)};
  has_history_ = false;
  return std::vector<JobRow>{};
}

std::optional<base::Error> Cluster::cancel_those(const std::vector<std::string>& names, const std::vector<std::string>& words) {
  for (const std::string& name : names) {  // of a list of names scancel takes none, and says nothing
    std::vector<std::string> command = {"scancel", "-u", std::to_string(user_id_), "-n", name};
    command.insert(command.end(), words.begin(), words.end());
    if (const auto text = ask(command); !text) return text.error();
  }
  return std::nullopt;
}

std::optional<base::Error> Cluster::cancel(const std::vector<std::string>& names) { return cancel_those(names, {}); }

std::optional<base::Error> Cluster::cancel_pending(const std::vector<std::string>& names) { return cancel_those(names, {"-t", "PENDING"}); }

std::optional<base::Error> Cluster::cancel_row(const JobRow& row) {
  // With a filter such as -n beside it, scancel would take the id of an element for its whole array.
  const auto text = ask({"scancel", id_text(row)});
  return text ? std::nullopt : std::optional(text.error());
}

std::int64_t Cluster::most_array_elements() {
  constexpr std::int64_t kDefault = 1001;
  const auto config = read_cluster_config(client_);
  const std::optional<std::int64_t> most = config ? config.value().number("MaxArraySize") : std::nullopt;
  return std::max<std::int64_t>(most.value_or(kDefault), 1);
}

}  // namespace rematch::slurm
