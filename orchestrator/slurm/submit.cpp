#include "orchestrator/slurm/submit.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>

#include "orchestrator/base/random_hex.h"
#include "orchestrator/launch/process.h"
#include "orchestrator/slurm/parts.h"
#include "orchestrator/slurm/runner_watch.h"

namespace rematch::slurm {

using protocol::Submission;
using protocol::SubmissionTask;

namespace {

// Of a client that could not talk to its controller, whatever that has done meanwhile.
constexpr std::array<std::string_view, 9> kUnreachable = {"Unable to contact",   "timed out",     "Connection refused",
                                                          "Zero Bytes",          "temporarily",   "Transport endpoint",
                                                          "Unable to establish", "communication", "Connection reset"};

}  // namespace

std::optional<std::int64_t> parse_sbatch_answer(const std::string& out) {
  std::int64_t id = 0;
  const auto parsed = std::from_chars(out.data(), out.data() + out.size(), id);
  return parsed.ec == std::errc() && id > 0 ? std::optional(id) : std::nullopt;
}

std::string sbatch_words(const std::string& error) {
  std::string words;
  std::istringstream lines(error);
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view kPrefix = "sbatch: error: ";
    if (line.starts_with(kPrefix)) line.erase(0, kPrefix.size());
    if (!line.empty()) words += (words.empty() ? "" : "; ") + line;
  }
  return words;
}

bool is_refusal(const Answer& answer) {
  if (answer.exit_code == 0 || answer.exit_code > 128) return false;
  return std::none_of(kUnreachable.begin(), kUnreachable.end(),
                      [&](std::string_view words) { return answer.error.find(words) != std::string::npos; });
}

std::vector<std::vector<SubmissionTask>> submissions_of(std::vector<SubmissionTask> parts, const spec::SlurmSpec& slurm,
                                                        std::int64_t most_array_elements) {
  const std::size_t most = slurm.shape == "array" ? static_cast<std::size_t>(most_array_elements) : 1;
  std::vector<std::vector<SubmissionTask>> submissions;
  for (std::size_t begin = 0; begin < parts.size(); begin += most) {
    const auto first = parts.begin() + static_cast<std::ptrdiff_t>(begin);
    submissions.emplace_back(first, first + static_cast<std::ptrdiff_t>(std::min(most, parts.size() - begin)));
    if (slurm.shape == "array" && slurm.throttle) break;
  }
  return submissions;
}

std::vector<std::vector<SubmissionTask>> Submitter::split(std::vector<SubmissionTask> parts) {
  if (setup_.slurm.shape == "array" && most_array_elements_ == 0) most_array_elements_ = cluster_.most_array_elements();
  return submissions_of(std::move(parts), setup_.slurm, most_array_elements_);
}

SubmitResult Submitter::submit(const std::vector<SubmissionTask>& tasks) {
  BatchJob job = setup_.job;
  job.name = job_name(setup_.study_name, setup_.study_id, base::random_hex(8));
  job.num_tasks = static_cast<std::int64_t>(tasks.size());
  Submission submission;
  submission.name = job.name;
  submission.study_id = setup_.study_id;
  submission.shape = shape_named(setup_.slurm.shape);
  submission.command = sbatch_command(setup_.slurm, job, store_.paths().submission_script(job.name));
  submission.tasks = tasks;
  submission.intent_unix_ns = launch::unix_now_ns();
  store_.put_script(job.name, batch_script(setup_.slurm, job));
  store_.put(submission);
  submitted_.insert(submission.name);
  const Sent sent = send(submission);
  return sent.known ? *sent.known : look_and_send_again(std::move(submission), sent.why);
}

SubmitResult Submitter::reconcile(Submission submission) {
  return look_and_send_again(std::move(submission), "its answer was not recorded");
}

Submitter::Sent Submitter::send(Submission submission) {
  const auto answer = cluster_.call(submission.command);
  if (!answer) return {std::nullopt, answer.error().message};
  if (answer.value().exit_code == 0) {
    submission.job_id = parse_sbatch_answer(answer.value().out);
    if (submission.job_id) return {found(submission), ""};
  }
  const std::string words = sbatch_words(answer.value().error);
  if (is_refusal(answer.value())) return {refused(submission, words), ""};
  return {std::nullopt, words};
}

SubmitResult Submitter::look_and_send_again(Submission submission, std::string why) {
  for (int num_resends = 0;; ++num_resends) {
    const Lookup lookup = look_until_known(submission);
    if (lookup == Lookup::kFound) return found(submission);
    if (lookup == Lookup::kUnknown || num_resends == kMostResends)
      return {SubmitEnd::kUnknown, submission,
              "it is not known whether job " + submission.name + " was submitted (" + why +
                  "). Run again when Slurm answers: it is looked for by its name"};
    const Sent sent = send(submission);
    if (sent.known) return *sent.known;
    why = sent.why;
  }
}

Submitter::Lookup Submitter::look_until_known(Submission& submission) {
  const auto until = surroundings_.now() + kLookupDeadline;
  for (;;) {
    const Lookup lookup = look(submission);
    if (lookup != Lookup::kUnknown || surroundings_.is_told_to_stop() || surroundings_.now() >= until) return lookup;
    surroundings_.pause(kLookupPause);
  }
}

// The controller forgets jobs that ended some minutes ago, accounting does not, and a runner leaves its record.
Submitter::Lookup Submitter::look(Submission& submission) {
  const auto take = [&](const std::vector<JobRow>& rows) {
    submission.job_id = rows.front().array_job_id.value_or(rows.front().job_id);
    return Lookup::kFound;
  };
  const auto queued = cluster_.queue({submission.name});
  if (!queued) return Lookup::kUnknown;
  if (!queued.value().empty()) return take(queued.value());
  const std::int64_t age_ns = std::max<std::int64_t>(launch::unix_now_ns() - submission.intent_unix_ns, 0);
  const auto past = cluster_.history({submission.name}, std::chrono::minutes(age_ns / 60'000'000'000 + 60));
  if (!past) return Lookup::kUnknown;
  if (!past.value().empty()) return take(past.value());
  RunnerWatch runners(store_.paths().runners());
  runners.look(surroundings_.now());
  for (const SubmissionTask& task : submission.tasks)
    if (const auto* record = runners.newest(protocol::scope_of(task)); record != nullptr && record->submission == submission.name) {
      if (record->allocation) submission.job_id = record->allocation->array_job_id.value_or(record->allocation->job_id);
      return Lookup::kFound;
    }
  return Lookup::kAbsent;
}

SubmitResult Submitter::found(const Submission& submission) {
  const Submission written = store_.update(submission.name, [&](Submission& stored) {
    stored.job_id = submission.job_id;
    stored.submit_unix_ns = launch::unix_now_ns();
  });
  return {SubmitEnd::kSubmitted, written, ""};
}

SubmitResult Submitter::refused(const Submission& submission, const std::string& message) {
  const Submission written = store_.update(submission.name, [&](Submission& stored) {
    stored.close_unix_ns = launch::unix_now_ns();
    stored.message = "Slurm refused it: " + message;
  });
  return {SubmitEnd::kRefused, written, "Slurm refused the job: " + message};
}

}  // namespace rematch::slurm
