#include "schemas/protocol/submission.h"

#include <array>
#include <nlohmann/json.hpp>

#include "schemas/protocol/json_fields.h"

namespace rematch::protocol {

using nlohmann::json;

namespace {

constexpr std::array kAllShapes = {SubmissionShape::kAllocation, SubmissionShape::kArray, SubmissionShape::kTrials};

}  // namespace

std::string_view to_string(SubmissionShape shape) {
  switch (shape) {
    case SubmissionShape::kAllocation: return "allocation";
    case SubmissionShape::kArray: return "array";
    case SubmissionShape::kTrials: return "trials";
  }
  return "unknown";
}

void read_value(const Place& place, SubmissionShape& shape) { shape = read_named(place, kAllShapes); }

template <typename Visitor, Is<SubmissionTask> Task>
void visit_fields(Visitor& field, Task& task) {
  field("block", task.block, at_least(0));
  field("trial_id", task.trial_id, hex_digits(16));
}

template <typename Visitor, Is<Submission> Sent>
void visit_fields(Visitor& field, Sent& submission) {
  field.constant("schema", kSubmissionSchema);
  field("name", submission.name, not_empty());
  field("study_id", submission.study_id, hex_digits(16));
  field("shape", submission.shape);
  field("command", submission.command);
  field("tasks", submission.tasks);
  field("intent_unix_ns", submission.intent_unix_ns, at_least(0));
  field("job_id", submission.job_id, at_least(1));
  field("submit_unix_ns", submission.submit_unix_ns, at_least(0));
  field("cancel_unix_ns", submission.cancel_unix_ns, at_least(0));
  field("close_unix_ns", submission.close_unix_ns, at_least(0));
  field("message", submission.message);
}

json to_json(const Submission& submission) { return json_document(submission); }

Submission parse_submission(const json& document) { return read_document<Submission>(document, "submission", UnknownKeys::kTolerate); }

Submission read_submission(const std::string& path) {
  Submission submission;
  with_json_file(path, [&submission](const json& document) { submission = parse_submission(document); });
  return submission;
}

std::string scope_of(const SubmissionTask& task) {
  if (task.block) return "block-" + std::to_string(*task.block);
  return task.trial_id ? "trial-" + *task.trial_id : "study";
}

}  // namespace rematch::protocol
