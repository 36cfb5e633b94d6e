// launch.json: what the supervisor of one attempt saw of its processes, or those of its nodes together. Written by rename when all of
// them are gone. Times named mono are of the node's own clock: those of two nodes are not comparable.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace rematch::protocol {

inline constexpr const char* kLaunchSchema = "rematch/launch/1";

// Why the attempt ended.
enum class LaunchEnd { kAllExited, kRankFailed, kTimeout, kInterrupted, kControllerLost, kLaunchFailed, kNodeFailed };

// One host of an attempt, as it was found there.
struct LaunchNode {
  std::string node;                            // Slurm's name; outside Slurm the host's
  std::string host;                            // as the operating system has it
  std::optional<std::string> visible_devices;  // CUDA_VISIBLE_DEVICES that its ranks got; null: not set
  std::optional<std::string> topology;         // SLURM_TOPOLOGY_ADDR: switches down to the node; null: not known
};

// The Slurm allocation that an attempt ran in. Slurm uses numbers again after a controller's crash, `runner` never.
struct Allocation {
  std::int64_t job_id = 0;
  std::optional<std::int64_t> array_job_id;
  std::optional<std::int64_t> array_task_id;
  std::int64_t restart_count = 0;     // requeues before
  std::optional<std::string> runner;  // runner_id of the runner record; null: started by hand
};

struct RankExit {
  std::int64_t rank = 0;
  std::int64_t pid = 0;                   // 0: never started
  std::optional<std::int64_t> exit_code;  // null: a signal ended it, it never started, or its node was lost
  std::optional<std::int64_t> signal;     // null when it exited
  bool ended_by_supervisor = false;       // it was still running when the supervisor ended the attempt
  std::int64_t start_mono_ns = 0;
  std::int64_t end_mono_ns = 0;
  std::int64_t node = 0;  // index into LaunchRecord::nodes
};

struct LaunchRecord {
  std::string trial_id;
  std::int64_t attempt = 1;  // 1-based
  std::string host;
  std::int64_t supervisor_pid = 0;
  std::vector<std::string> command;                // argv of a rank
  std::map<std::string, std::string> environment;  // variables that the launcher set, those that differ per rank left out
  std::int64_t start_unix_ns = 0;
  std::int64_t end_unix_ns = 0;
  LaunchEnd end = LaunchEnd::kAllExited;
  std::optional<std::int64_t> cause_rank;  // the rank that ended first in a bad way
  std::vector<RankExit> ranks;
  std::vector<LaunchNode> nodes;         // in the order of their ranks
  std::optional<Allocation> allocation;  // null: not under Slurm
  std::int64_t strays_ended = 0;         // descendants other than ranks that had to be killed
  std::string message;                   // empty, or why the launch failed
};

std::string_view to_string(LaunchEnd end);
nlohmann::json to_json(const LaunchRecord& record);
LaunchRecord parse_launch_record(const nlohmann::json& document);  // throws DocumentError
LaunchRecord read_launch_record(const std::string& path);

}  // namespace rematch::protocol
