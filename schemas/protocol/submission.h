// submissions/<name>.json: one sbatch of a study, written before sbatch is called and again when its answer is known, so that whoever
// comes after a death knows what may be queued. Written by rename by the controller on the login side; runners read which part is theirs.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rematch::protocol {

inline constexpr const char* kSubmissionSchema = "rematch/submission/1";

enum class SubmissionShape {
  kAllocation,  // one job, in which a runner carries the whole study out
  kArray,       // a job array, an element a block
  kTrials,      // a job a trial
};

// What one job, or one element of an array, carries out. At most one of the two; neither: the whole study.
struct SubmissionTask {
  std::optional<std::int64_t> block;
  std::optional<std::string> trial_id;
};

struct Submission {
  std::string name;  // the job's, unique among all submissions: at most 64 characters
  std::string study_id;
  SubmissionShape shape = SubmissionShape::kAllocation;
  std::vector<std::string> command;    // sbatch with its arguments; the script, last, lies beside this document
  std::vector<SubmissionTask> tasks;   // by array index; one where it is no array
  std::int64_t intent_unix_ns = 0;     // before sbatch was called
  std::optional<std::int64_t> job_id;  // null: sbatch has not answered, or its answer was lost
  std::optional<std::int64_t> submit_unix_ns;
  std::optional<std::int64_t> cancel_unix_ns;  // a user cancelled it: it is never submitted again
  std::optional<std::int64_t> close_unix_ns;   // nothing of it is queued or runs any more, and its results were stored
  std::string message;                         // why it failed or was given up; empty: nothing to say
};

std::string_view to_string(SubmissionShape shape);
nlohmann::json to_json(const Submission& submission);
Submission parse_submission(const nlohmann::json& document);  // throws DocumentError
Submission read_submission(const std::string& path);

// "study", "block-3" or "trial-<id>": names the part in file names.
std::string scope_of(const SubmissionTask& task);

}  // namespace rematch::protocol
