// Hands parts of a study to Slurm so that a death at any point submits nothing twice: the intent is on disk, under a name that nobody else
// has, before sbatch is called; an sbatch that failed or gave no answer may have submitted or not, so the name is looked for, and only
// where it is surely not there is the same submission sent again. Writes submission documents; one thread, which holds the workspace lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "orchestrator/base/result.h"
#include "orchestrator/slurm/batch_script.h"
#include "orchestrator/slurm/cluster.h"
#include "orchestrator/slurm/submission_store.h"
#include "orchestrator/slurm/surroundings.h"
#include "orchestrator/spec/sweep.h"
#include "schemas/protocol/submission.h"

namespace rematch::slurm {

// sbatch is called once more so often for one submission, when its name is surely not there.
inline constexpr int kMostResends = 2;
// A controller that is away is waited for so long, asked every kLookupPause.
inline constexpr std::chrono::minutes kLookupDeadline{5};
inline constexpr std::chrono::seconds kLookupPause{15};

enum class SubmitEnd {
  kSubmitted,
  kRefused,  // by Slurm, in the message's words; the submission is closed
  kUnknown,  // Slurm does not answer, or we were told to stop: the submission stays open, to be looked for later
};

struct SubmitResult {
  SubmitEnd end = SubmitEnd::kUnknown;
  protocol::Submission submission;
  std::string message;
};

// What is the same for every submission of a study.
struct JobSetup {
  spec::SlurmSpec slurm;
  BatchJob job;  // name and num_tasks unset
  std::string study_name;
  std::string study_id;
};

// Shape array: as many parts an array as Slurm takes, and the first of these alone where a throttle is wanted, which holds for one array.
// Shape trials: each for itself. Shape allocation: the one.
std::vector<std::vector<protocol::SubmissionTask>> submissions_of(std::vector<protocol::SubmissionTask> parts, const spec::SlurmSpec& slurm,
                                                                  std::int64_t most_array_elements);

class Submitter {
 public:
  Submitter(Cluster& cluster, SubmissionStore store, JobSetup setup, const Surroundings& surroundings)
      : cluster_(cluster), store_(std::move(store)), setup_(std::move(setup)), surroundings_(surroundings) {}

  std::string study() const { return setup_.study_name + "-" + setup_.study_id; }
  SubmitResult submit(const std::vector<protocol::SubmissionTask>& tasks);
  // By this object.
  bool has_submitted(const std::string& name) const { return submitted_.contains(name); }
  // Of an earlier intent without a job id.
  SubmitResult reconcile(protocol::Submission submission);
  // Where parts have to be told apart by Slurm's limit; asks it once, for arrays.
  std::vector<std::vector<protocol::SubmissionTask>> split(std::vector<protocol::SubmissionTask> parts);

 private:
  enum class Lookup { kFound, kAbsent, kUnknown };
  struct Sent {
    std::optional<SubmitResult> known;  // nullopt: it may have been submitted or not
    std::string why;
  };
  Sent send(protocol::Submission submission);
  SubmitResult look_and_send_again(protocol::Submission submission, std::string why);
  Lookup look(protocol::Submission& submission);
  Lookup look_until_known(protocol::Submission& submission);
  SubmitResult found(const protocol::Submission& submission);
  SubmitResult refused(const protocol::Submission& submission, const std::string& message);

  Cluster& cluster_;
  SubmissionStore store_;
  JobSetup setup_;
  const Surroundings& surroundings_;
  std::set<std::string> submitted_;       // names
  std::int64_t most_array_elements_ = 0;  // 0: not asked yet
};

// The number of "17" or "17;cluster"; nullopt: no such answer.
std::optional<std::int64_t> parse_sbatch_answer(const std::string& out);
// Slurm's own words without what names its program. `is_refusal`: they speak of the job, not of a controller that could not be reached.
std::string sbatch_words(const std::string& error);
bool is_refusal(const Answer& answer);

}  // namespace rematch::slurm
