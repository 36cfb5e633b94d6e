#include "orchestrator/rules/match_fields.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

namespace rematch::rules {

namespace {

using nlohmann::json;
using enum RecordedDocument;

constexpr std::array kFree = {
    FreeField{kTrial, "trial_id", "names the trial"},
    FreeField{kTrial, "group_id", "a hash of fields that are compared one by one"},
    FreeField{kTrial, "study", "a name"},
    FreeField{kTrial, "arm", "what is compared"},
    FreeField{kTrial, "is_control", "what is compared"},
    FreeField{kTrial, "block", "repeats differ in it"},
    FreeField{kTrial, "slot", "repeats differ in it"},
    FreeField{kTrial, "timeout_ms", "a deadline ends a run and changes nothing in it"},
    FreeField{kTrial, "collective_timeout_ms", "a deadline ends a run and changes nothing in it"},
    FreeField{kTrial, "recompute.recompute_granularity", "what is compared"},
    FreeField{kTrial, "recompute.recompute_modules", "what is compared"},
    FreeField{kTrial, "recompute.recompute_method", "what is compared"},
    FreeField{kTrial, "recompute.recompute_num_layers", "what is compared"},
    FreeField{kTrial, "recompute.distribute_saved_activations", "what is compared"},
    FreeField{kTrial, "prediction.origins", "where an assumption was written, not what it is"},
    FreeField{kLaunch, "trial_id", "names the trial"},
    FreeField{kLaunch, "attempt", "repeats differ in it"},
    FreeField{kLaunch, "supervisor_pid", "each process has its own"},
    FreeField{kLaunch, "environment.MASTER_PORT", "a free port is taken for each launch"},
    FreeField{kLaunch, "start_unix_ns", "a clock"},
    FreeField{kLaunch, "end_unix_ns", "a clock"},
    FreeField{kLaunch, "end", "how the run ended is its result"},
    FreeField{kLaunch, "cause_rank", "how the run ended is its result"},
    FreeField{kLaunch, "ranks", "how the run ended is its result"},
    FreeField{kLaunch, "strays_ended", "how the run ended is its result"},
    FreeField{kLaunch, "allocation", "nodes are compared, not the job that got them"},
    FreeField{kLaunch, "message", "how the run ended is its result"},
    FreeField{kHello, "t", "the kind of the line"},
    FreeField{kHello, "trial_id", "names the trial"},
    FreeField{kHello, "rank", "ranks are compared one by one"},
    FreeField{kHello, "pid", "each process has its own"},
    FreeField{kHello, "unix_ns", "a clock"},
    FreeField{kHello, "resolved_recompute", "what is compared; a control's is attested apart"},
};

constexpr std::array<std::string_view, 7> kPlaces = {"launch.host",
                                                     "launch.environment.MASTER_ADDR",
                                                     "hello.host",
                                                     "machine.device_id",
                                                     "machine.cpu_affinity",
                                                     "machine.environment.CUDA_VISIBLE_DEVICES",
                                                     "machine.environment.NVIDIA_VISIBLE_DEVICES"};
constexpr std::string_view kNodes = "launch.nodes";

bool is_free(RecordedDocument document, const std::string& field) {
  return std::any_of(kFree.begin(), kFree.end(), [&](const FreeField& free) { return free.document == document && free.field == field; });
}

std::string value_text(const json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

class Flattening {
 public:
  Flattening(RecordedDocument document, std::string prefix, std::map<std::string, std::string>& fields)
      : document_(document), prefix_(std::move(prefix)), fields_(fields) {}

  void add(const std::string& field, const json& value) {
    if (is_free(document_, field)) return;
    if (value.is_object()) {
      for (const auto& [key, member] : value.items()) add(field.empty() ? key : field + "." + key, member);
    } else {
      fields_.emplace(field.starts_with("machine.") ? field : prefix_ + field, value_text(value));
    }
  }

 private:
  RecordedDocument document_;
  std::string prefix_;
  std::map<std::string, std::string>& fields_;
};

std::string joined(const std::vector<protocol::LaunchNode>& nodes, std::string (*text_of)(const protocol::LaunchNode&)) {
  std::string text;
  for (const protocol::LaunchNode& node : nodes) text += (text.empty() ? "" : "; ") + text_of(node);
  return text;
}

void add_nodes(const std::vector<protocol::LaunchNode>& nodes, std::map<std::string, std::string>& fields) {
  const std::string name(kNodes);
  fields[name] = joined(nodes, [](const protocol::LaunchNode& node) { return node.node; });
  fields[name + ".host"] = joined(nodes, [](const protocol::LaunchNode& node) { return node.host; });
  fields[name + ".visible_devices"] = joined(nodes, [](const protocol::LaunchNode& node) { return node.visible_devices.value_or("any"); });
  fields[name + ".topology"] = joined(nodes, [](const protocol::LaunchNode& node) { return node.topology.value_or("unknown"); });
}

}  // namespace

bool names_a_place(std::string_view field) {
  return field.starts_with(kNodes) || std::find(kPlaces.begin(), kPlaces.end(), field) != kPlaces.end();
}

std::span<const FreeField> free_fields() { return kFree; }

std::vector<std::string> command_without_folders(std::vector<std::string> command) {
  if (!command.empty()) command.front().erase(0, command.front().rfind('/') + 1);
  for (std::size_t i = 0; i + 1 < command.size(); ++i)
    if (command[i] == "--trial") command[i + 1] = "TRIAL";
  return command;
}

RecordedFields recorded_fields(const base::AttemptRows& attempt) {
  RecordedFields fields;
  Flattening(kTrial, "", fields.of_attempt).add("", protocol::to_json(attempt.trial));
  protocol::LaunchRecord launch = attempt.launch;
  launch.command = command_without_folders(std::move(launch.command));
  Flattening(kLaunch, "launch.", fields.of_attempt).add("", protocol::to_json(launch));
  add_nodes(launch.nodes, fields.of_attempt);
  for (const base::RankRows& rank : attempt.ranks)
    if (rank.hello) Flattening(kHello, "hello.", fields.of_rank[rank.rank]).add("", json::parse(protocol::to_line(*rank.hello)));
  return fields;
}

}  // namespace rematch::rules
