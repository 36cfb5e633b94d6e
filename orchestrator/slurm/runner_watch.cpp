#include "orchestrator/slurm/runner_watch.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "schemas/protocol/document_error.h"

namespace rematch::slurm {

namespace fs = std::filesystem;

namespace {

// One that is being renamed over, of another version, or that the file system does not give just now: seen at the next look, or never.
std::optional<protocol::RunnerRecord> read(const fs::path& path) {
  try {
    return protocol::read_runner_record(path);
  } catch (const protocol::DocumentError&) {
    return std::nullopt;
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

}  // namespace

std::set<std::string> RunnerWatch::look(Time now) {
  std::set<std::string> changed;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder_, none))
    if (entry.path().extension() == ".json")
      if (auto scope = take(entry.path(), now)) changed.insert(*std::move(scope));
  return changed;
}

std::optional<std::string> RunnerWatch::take(const fs::path& path, Time now) {
  std::error_code gone;
  const auto write_time = fs::last_write_time(path, gone);
  if (gone) return std::nullopt;
  const auto known = std::find_if(by_scope_.begin(), by_scope_.end(), [&](const auto& entry) { return entry.second.path == path; });
  const bool is_older = known == by_scope_.end() && submission_of_.contains(path);
  if (is_older || (known != by_scope_.end() && known->second.write_time == write_time)) return std::nullopt;
  auto record = read(path);
  if (!record) return std::nullopt;
  const std::string scope = record->scope;
  submission_of_[path] = record->submission;
  const auto place = by_scope_.find(record->scope);
  if (place == by_scope_.end() || place->second.record.epoch < record->epoch) {
    by_scope_.insert_or_assign(scope, Seen{path, write_time, *std::move(record), now});
    return scope;
  }
  Seen& seen = place->second;
  if (seen.path != path) return std::nullopt;
  const bool has_ended = record->end.has_value() && !seen.record.end;
  if (record->heartbeat != seen.record.heartbeat) seen.change = now;
  seen.write_time = write_time;
  seen.record = *std::move(record);
  return has_ended ? std::optional(scope) : std::nullopt;
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
