// Writes an attempt made in code as the files that a trainer and a supervisor would have left.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "orchestrator/base/rows.h"
#include "schemas/protocol/record_file.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::tests {

inline void write_rank_record(const std::filesystem::path& path, const base::RankRows& rank) {
  protocol::RecordWriter writer(path);
  if (rank.hello) writer.append(*rank.hello);
  if (rank.model) writer.append(*rank.model);
  for (const protocol::StageRecord& stage : rank.stages) writer.append(stage);
  for (const protocol::StepRecord& step : rank.steps) writer.append(step);
  if (rank.oom) writer.append(*rank.oom);
  for (const protocol::ErrorRecord& error : rank.errors) writer.append(error);
  if (rank.bye) writer.append(*rank.bye);
}

// Into <trial_folder>/attempt-<n>, which it returns.
inline std::filesystem::path write_attempt(const std::filesystem::path& trial_folder, const base::AttemptRows& attempt) {
  const protocol::AttemptPaths paths = protocol::attempt_paths(trial_folder, attempt.attempt);
  std::filesystem::create_directories(paths.root);
  protocol::write_file_by_rename(paths.trial(), protocol::to_json(attempt.trial).dump());
  protocol::LaunchRecord launch = attempt.launch;
  launch.ranks.clear();
  for (const base::RankRows& rank : attempt.ranks) launch.ranks.push_back(rank.exit);
  protocol::write_file_by_rename(paths.launch(), protocol::to_json(launch).dump());
  for (const base::RankRows& rank : attempt.ranks) write_rank_record(paths.rank_record(rank.rank), rank);
  return paths.root;
}

}  // namespace rematch::tests
