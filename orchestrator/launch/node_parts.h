// The part records that the supervisors of an attempt's nodes leave on the shared file system. Called by the launcher on the first node.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "orchestrator/launch/merge_parts.h"
#include "schemas/protocol/launch_record.h"

namespace rematch::launch {

// Before a step: the folders of its nodes. Throws std::filesystem::filesystem_error.
void make_node_folders(const std::filesystem::path& attempt_folder, std::int64_t num_nodes);
std::int64_t num_node_folders(const std::filesystem::path& attempt_folder);

// By node. nullopt: none is there, or it cannot be read.
std::vector<std::optional<protocol::LaunchRecord>> read_parts(const std::filesystem::path& attempt_folder, std::int64_t num_nodes);

struct StepTimes {
  std::int64_t attempt = 1;  // 1-based
  std::int64_t start_unix_ns = 0;
  std::int64_t end_unix_ns = 0;
};
// Merges the parts and writes launch.json of the attempt, which it returns.
protocol::LaunchRecord write_merged(const std::filesystem::path& attempt_folder, const protocol::Trial& trial, const StepParts& step,
                                    const StepTimes& times);

// For an attempt whose launcher is gone: writes launch.json out of the parts that are there, unless it exists or there is no part.
void settle_parts(const std::filesystem::path& attempt_folder);

}  // namespace rematch::launch
