#include "schemas/protocol/launch_record.h"

#include <array>
#include <nlohmann/json.hpp>

#include "schemas/protocol/launch_fields.h"

namespace rematch::protocol {

using nlohmann::json;

namespace {

constexpr std::array kAllLaunchEnds = {LaunchEnd::kAllExited,      LaunchEnd::kRankFailed,   LaunchEnd::kTimeout,   LaunchEnd::kInterrupted,
                                       LaunchEnd::kControllerLost, LaunchEnd::kLaunchFailed, LaunchEnd::kNodeFailed};

}  // namespace

std::string_view to_string(LaunchEnd end) {
  switch (end) {
    case LaunchEnd::kAllExited: return "all_exited";
    case LaunchEnd::kRankFailed: return "rank_failed";
    case LaunchEnd::kTimeout: return "timeout";
    case LaunchEnd::kInterrupted: return "interrupted";
    case LaunchEnd::kControllerLost: return "controller_lost";
    case LaunchEnd::kLaunchFailed: return "launch_failed";
    case LaunchEnd::kNodeFailed: return "node_failed";
  }
  return "unknown";
}

void read_value(const Place& place, LaunchEnd& end) { end = read_named(place, kAllLaunchEnds); }

template <typename Visitor, Is<LaunchNode> Node>
void visit_fields(Visitor& field, Node& node) {
  field("node", node.node, not_empty());
  field("host", node.host);
  field("visible_devices", node.visible_devices);
  field("topology", node.topology);
}

template <typename Visitor, Is<RankExit> Exit>
void visit_fields(Visitor& field, Exit& exit) {
  field("rank", exit.rank, at_least(0));
  field("node", exit.node, at_least(0));
  field("pid", exit.pid, at_least(0));
  field("exit_code", exit.exit_code, at_least(0));
  field("signal", exit.signal, at_least(1));
  field("ended_by_supervisor", exit.ended_by_supervisor);
  field("start_mono_ns", exit.start_mono_ns, at_least(0));
  field("end_mono_ns", exit.end_mono_ns, at_least(0));
}

template <typename Visitor, Is<LaunchRecord> Launch>
void visit_fields(Visitor& field, Launch& launch) {
  field.constant("schema", kLaunchSchema);
  field("trial_id", launch.trial_id, hex_digits(16));
  field("attempt", launch.attempt, at_least(1));
  field("host", launch.host);
  field("supervisor_pid", launch.supervisor_pid, at_least(0));
  field("command", launch.command);
  field("environment", launch.environment);
  field("start_unix_ns", launch.start_unix_ns, at_least(0));
  field("end_unix_ns", launch.end_unix_ns, at_least(0));
  field("end", launch.end);
  field("cause_rank", launch.cause_rank, at_least(0));
  field("ranks", launch.ranks);
  field("nodes", launch.nodes);
  field("allocation", launch.allocation);
  field("strays_ended", launch.strays_ended, at_least(0));
  field("message", launch.message);
}

json to_json(const LaunchRecord& record) { return json_document(record); }

LaunchRecord parse_launch_record(const json& document) { return read_document<LaunchRecord>(document, "launch", UnknownKeys::kTolerate); }

LaunchRecord read_launch_record(const std::string& path) {
  LaunchRecord record;
  with_json_file(path, [&record](const json& document) { record = parse_launch_record(document); });
  return record;
}

}  // namespace rematch::protocol
