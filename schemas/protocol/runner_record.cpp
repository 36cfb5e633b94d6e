#include "schemas/protocol/runner_record.h"

#include <array>
#include <nlohmann/json.hpp>

#include "schemas/protocol/launch_fields.h"

namespace rematch::protocol {

using nlohmann::json;

namespace {

constexpr std::array kAllRunnerEnds = {RunnerEnd::kComplete, RunnerEnd::kControlRefuted, RunnerEnd::kTrialsLeft, RunnerEnd::kInterrupted,
                                       RunnerEnd::kRequeued, RunnerEnd::kSuperseded,     RunnerEnd::kFailed};

}  // namespace

std::string_view to_string(RunnerEnd end) {
  switch (end) {
    case RunnerEnd::kComplete: return "complete";
    case RunnerEnd::kControlRefuted: return "control_refuted";
    case RunnerEnd::kTrialsLeft: return "trials_left";
    case RunnerEnd::kInterrupted: return "interrupted";
    case RunnerEnd::kRequeued: return "requeued";
    case RunnerEnd::kSuperseded: return "superseded";
    case RunnerEnd::kFailed: return "failed";
  }
  return "unknown";
}

void read_value(const Place& place, RunnerEnd& end) { end = read_named(place, kAllRunnerEnds); }

template <typename Visitor, Is<RunnerRecord> Runner>
void visit_fields(Visitor& field, Runner& runner) {
  field.constant("schema", kRunnerSchema);
  field("scope", runner.scope, not_empty());
  field("epoch", runner.epoch, at_least(1));
  field("runner_id", runner.runner_id, hex_digits(16));
  field("submission", runner.submission);
  field("host", runner.host);
  field("pid", runner.pid, at_least(0));
  field("allocation", runner.allocation);
  field("nodes", runner.nodes);
  field("start_unix_ns", runner.start_unix_ns, at_least(0));
  field("heartbeat", runner.heartbeat, at_least(0));
  field("heartbeat_unix_ns", runner.heartbeat_unix_ns, at_least(0));
  field("end", runner.end);
  field("end_unix_ns", runner.end_unix_ns, at_least(0));
  field("message", runner.message);
}

json to_json(const RunnerRecord& record) { return json_document(record); }

RunnerRecord parse_runner_record(const json& document) { return read_document<RunnerRecord>(document, "runner", UnknownKeys::kTolerate); }

RunnerRecord read_runner_record(const std::string& path) {
  RunnerRecord record;
  with_json_file(path, [&record](const json& document) { record = parse_runner_record(document); });
  return record;
}

}  // namespace rematch::protocol
