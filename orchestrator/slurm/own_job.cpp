#include "orchestrator/slurm/own_job.h"

#include <stdlib.h>

#include <string_view>

#include "orchestrator/base/slurm_time.h"
#include "orchestrator/base/whole_number.h"

namespace rematch::slurm {

namespace {

std::string_view without_blanks(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

// One field of this job as squeue writes it; empty: no answer.
std::string squeue_field(Client& client, const protocol::Allocation& job, const std::string& format) {
  const auto answer = client.call({"squeue", "-h", "-j", job_text(job), "-o", format}, kClientDeadline);
  if (!answer || answer.value().exit_code != 0) return "";
  return std::string(without_blanks(answer.value().out));
}

}  // namespace

void forget_other_arrays(protocol::SubmissionShape shape) {
  if (shape == protocol::SubmissionShape::kArray) return;
  for (const char* name : {"SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN",
                           "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_STEP"})
    ::unsetenv(name);  // NOLINT(concurrency-mt-unsafe)
}

std::string job_text(const protocol::Allocation& job) {
  if (job.array_job_id && job.array_task_id) return std::to_string(*job.array_job_id) + "_" + std::to_string(*job.array_task_id);
  return std::to_string(job.job_id);
}

std::optional<std::chrono::seconds> time_left(Client& client, const protocol::Allocation& job) {
  const auto seconds = base::parse_slurm_span_s(squeue_field(client, job, "%L"));
  return seconds ? std::optional(std::chrono::seconds(*seconds)) : std::nullopt;
}

std::optional<std::int64_t> num_nodes_now(Client& client, const protocol::Allocation& job) {
  return base::whole_number(squeue_field(client, job, "%D"));
}

std::optional<base::Error> requeue(Client& client, const protocol::Allocation& job) {
  const auto answer = client.call({"scontrol", "requeue", job_text(job)}, kClientDeadline);
  if (!answer) return answer.error();
  if (answer.value().exit_code == 0) return std::nullopt;
  return base::Error{"scontrol requeue " + job_text(job) + " ended with exit code " + std::to_string(answer.value().exit_code) + ": " +
                     std::string(without_blanks(answer.value().error))};
}

std::optional<std::chrono::seconds> signal_margin(const std::vector<std::string>& sbatch_command) {
  constexpr std::string_view kOption = "--signal=";
  std::optional<std::chrono::seconds> margin;
  for (const std::string_view word : sbatch_command) {
    if (!word.starts_with(kOption)) continue;
    const auto at = word.find('@');
    const auto seconds =
        at == std::string_view::npos ? std::optional<std::int64_t>(60) : base::whole_number(word.substr(at + 1));  // sbatch's own
    if (word.find("USR1") != std::string_view::npos && seconds) margin = std::chrono::seconds(*seconds);
  }
  return margin;
}

}  // namespace rematch::slurm
