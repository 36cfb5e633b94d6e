// What becomes of a part of a study that was submitted: one table, a row a case, the first that applies. Files outrank Slurm: what is done
// by its records is done whatever became of the job. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "orchestrator/slurm/job_table.h"
#include "schemas/protocol/runner_record.h"

namespace rematch::slurm {

// A part that infrastructure ended is submitted again so often, then given up.
inline constexpr std::int64_t kMostRetries = 3;
// Files of a node may come so much later than the end of its job. (What the login host remembers of folders is another matter:
// fresh_look.h.)
inline constexpr double kFileLagSeconds = 10;

enum class JobSight {
  kUnknown,  // Slurm has not answered since
  kGone,     // it does not know the job any more
  kSeen,     // `state` and `reason` are what it said last
};

struct PartFacts {
  bool is_done = false;                           // by its trials' files
  bool has_progressed = false;                    // a whole block of it was done since it was submitted
  std::optional<protocol::RunnerEnd> runner_end;  // of its newest runner, when that is of this submission; null: none, or no end yet
  std::string runner_message;                     // of that runner
  bool runner_is_alive = false;                   // its newest runner, of whatever submission, has no end, and its record changes
  bool is_cancelled = false;                      // by `rematch cancel`
  bool is_past = false;                           // cancelled before whoever asks began to look, who was asked to go on
  JobSight job = JobSight::kUnknown;
  JobState state = JobState::kOther;  // of kSeen
  std::string reason;                 // of kSeen, Slurm's
  double seconds_since_end = 0;       // since the job was first seen ended or gone
  std::int64_t num_retries = 0;       // that were counted before
  std::string study_id;
  bool has_runner = false;                       // a runner of this submission has claimed it
  std::string launch_problem;                    // common_launch_problem() of it
  std::optional<std::int64_t> exit_code;         // of kSeen and ended, the job's; null: a signal ended it, or it is not known
  std::optional<std::int64_t> exit_code_before;  // of the job before it, where that ended by itself before a runner had begun
};

enum class Step {
  kWait,
  kDone,
  kSubmitAgain,
  kCancelAndSubmitAgain,
  kStop,
  kCancelAndStop,
};

// Of kStop and kCancelAndStop.
enum class StopKind {
  kInterrupted,  // run again to go on
  kEnvironment,  // something has to be changed first
};

struct Decision {
  Step step = Step::kWait;
  StopKind stop = StopKind::kEnvironment;
  bool is_counted = false;  // one of kMostRetries
  std::string id;           // of the row
  std::string reason;       // a sentence without a full stop, for people
};

struct DecisionRow {
  const char* id;
  bool (*applies)(const PartFacts& facts);
  Step step;
  bool is_counted;  // of the steps that submit again
  StopKind stop;    // of the steps that stop
  std::string (*reason)(const PartFacts& facts);
};

std::span<const DecisionRow> decision_rows();
Decision decide(const PartFacts& facts, std::span<const DecisionRow> rows = decision_rows());

}  // namespace rematch::slurm
