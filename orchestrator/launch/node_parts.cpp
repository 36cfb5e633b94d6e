#include "orchestrator/launch/node_parts.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "orchestrator/launch/allocation.h"
#include "schemas/protocol/document_error.h"
#include "schemas/protocol/record_file.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::launch {

namespace fs = std::filesystem;
using protocol::AttemptPaths;
using protocol::LaunchRecord;

void make_node_folders(const fs::path& attempt_folder, std::int64_t num_nodes) {
  for (std::int64_t node = 0; node < num_nodes; ++node) fs::create_directories(AttemptPaths{attempt_folder}.node(node).root);
}

std::int64_t num_node_folders(const fs::path& attempt_folder) {
  std::int64_t num = 0;
  while (fs::is_directory(AttemptPaths{attempt_folder}.node(num).root)) ++num;
  return num;
}

std::vector<std::optional<LaunchRecord>> read_parts(const fs::path& attempt_folder, std::int64_t num_nodes) {
  std::vector<std::optional<LaunchRecord>> parts;
  for (std::int64_t node = 0; node < num_nodes; ++node) {
    const fs::path path = AttemptPaths{attempt_folder}.node(node).launch();
    auto& part = parts.emplace_back();
    if (!fs::exists(path)) continue;
    try {
      part = protocol::read_launch_record(path.string());
    } catch (const protocol::DocumentError&) {
      part = std::nullopt;  // the same as none: what its ranks did is not known
    }
  }
  return parts;
}

LaunchRecord write_merged(const fs::path& attempt_folder, const protocol::Trial& trial, const StepParts& step, const StepTimes& times) {
  LaunchRecord record = merge_parts(trial, step);
  record.attempt = times.attempt;
  record.start_unix_ns = times.start_unix_ns;
  record.end_unix_ns = times.end_unix_ns;
  record.allocation = allocation_from_environment();
  for (const auto& part : step.parts)
    if (part && part->allocation) record.allocation = part->allocation;
  protocol::write_file_unsynced(AttemptPaths{attempt_folder}.launch(), protocol::to_json(record).dump(2) + "\n");
  return record;
}

void settle_parts(const fs::path& attempt_folder) {
  const AttemptPaths paths{attempt_folder};
  const std::int64_t num_nodes = num_node_folders(attempt_folder);
  if (num_nodes == 0 || fs::exists(paths.launch())) return;
  StepParts step;
  step.parts = read_parts(attempt_folder, num_nodes);
  StepTimes times;
  bool any = false;
  for (const auto& part : step.parts) {
    if (!part) continue;
    times.attempt = part->attempt;
    times.start_unix_ns = any ? std::min(times.start_unix_ns, part->start_unix_ns) : part->start_unix_ns;
    times.end_unix_ns = std::max(times.end_unix_ns, part->end_unix_ns);
    any = true;
  }
  if (any) write_merged(attempt_folder, protocol::read_trial(paths.trial().string()), step, times);
}

}  // namespace rematch::launch
