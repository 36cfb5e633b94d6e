// runners/<scope>-<epoch>.json: who carries a part of a study out inside an allocation, and how that ended. The file is the claim on the
// part: it is created exclusively under the next epoch, and the runner of the highest epoch alone may start trials. A runner rewrites its
// own by rename while it lives (`heartbeat`) and a last time at its end. Read by the login side and by the next runner.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/protocol/launch_record.h"

namespace rematch::protocol {

inline constexpr const char* kRunnerSchema = "rematch/runner/1";

enum class RunnerEnd {
  kComplete,        // every trial of its part is done, and its strategy wants no more
  kControlRefuted,  // the control is not a control: no further trial was started
  kTrialsLeft,      // some could not be launched, were lost or could not be stored
  kInterrupted,     // SIGTERM or SIGINT: cancelled or preempted
  kRequeued,        // the time limit was near: it put its own job back into the queue
  kSuperseded,      // a later runner has claimed the part
  kFailed,          // `message` says why
};

struct RunnerRecord {
  std::string scope;       // see scope_of in submission.h
  std::int64_t epoch = 1;  // 1-based
  std::string runner_id;   // 16 hex digits, of this process alone
  std::string submission;  // its name; empty: started by hand
  std::string host;
  std::int64_t pid = 0;
  std::optional<Allocation> allocation;  // null: not under Slurm
  std::vector<std::string> nodes;        // Slurm's names, in its order; the first is this one
  std::int64_t start_unix_ns = 0;
  std::int64_t heartbeat = 0;  // counts up while the runner lives
  std::int64_t heartbeat_unix_ns = 0;
  std::optional<RunnerEnd> end;  // null: it lives, or died without a word
  std::optional<std::int64_t> end_unix_ns;
  std::string message;
};

std::string_view to_string(RunnerEnd end);
nlohmann::json to_json(const RunnerRecord& record);
RunnerRecord parse_runner_record(const nlohmann::json& document);  // throws DocumentError
RunnerRecord read_runner_record(const std::string& path);

}  // namespace rematch::protocol
