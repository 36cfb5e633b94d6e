#include "orchestrator/slurm/runner_watch.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "schemas/protocol/document_error.h"

namespace rematch::slurm {

namespace fs = std::filesystem;

namespace {

// One that is being renamed over, or of another version: seen at the next look, or never.
std::optional<protocol::RunnerRecord> read(const fs::path& path) {
  try {
    return protocol::read_runner_record(path);
  } catch (const protocol::DocumentError&) {
    return std::nullopt;
  }
}

}  // namespace

bool RunnerWatch::look(Time now) {
  bool has_changed = false;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder_, none))
    if (entry.path().extension() == ".json" && take(entry.path(), now)) has_changed = true;
  return has_changed;
}

bool RunnerWatch::take(const fs::path& path, Time now) {
  std::error_code gone;
  const auto write_time = fs::last_write_time(path, gone);
  if (gone) return false;
  const auto known = std::find_if(by_scope_.begin(), by_scope_.end(), [&](const auto& entry) { return entry.second.path == path; });
  const bool is_older = known == by_scope_.end() && submission_of_.contains(path);
  if (is_older || (known != by_scope_.end() && known->second.write_time == write_time)) return false;
  auto record = read(path);
  if (!record) return false;
  submission_of_[path] = record->submission;
  const auto place = by_scope_.find(record->scope);
  if (place == by_scope_.end() || place->second.record.epoch < record->epoch) {
    const std::string scope = record->scope;
    by_scope_.insert_or_assign(scope, Seen{path, write_time, *std::move(record), now});
    return true;
  }
  Seen& seen = place->second;
  if (seen.path != path) return false;
  const bool has_ended = record->end.has_value() && !seen.record.end;
  if (record->heartbeat != seen.record.heartbeat) seen.change = now;
  seen.write_time = write_time;
  seen.record = *std::move(record);
  return has_ended;
}

const protocol::RunnerRecord* RunnerWatch::newest(const std::string& scope) const {
  const auto found = by_scope_.find(scope);
  return found == by_scope_.end() ? nullptr : &found->second.record;
}

bool RunnerWatch::is_alive(const std::string& scope, Time now) const {
  const auto found = by_scope_.find(scope);
  return found != by_scope_.end() && !found->second.record.end && now - found->second.change < kHeartbeatStands;
}

bool RunnerWatch::has_run(const std::string& submission) const {
  return std::any_of(submission_of_.begin(), submission_of_.end(), [&](const auto& entry) { return entry.second == submission; });
}

}  // namespace rematch::slurm
