#include "orchestrator/engine/study_folder.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "orchestrator/base/study_plan.h"
#include "orchestrator/base/whole_number.h"
#include "orchestrator/launch/this_host.h"
#include "schemas/protocol/document_error.h"
#include "schemas/protocol/record_file.h"
#include "schemas/protocol/write_boundary.h"

namespace rematch::engine {

namespace {

namespace fs = std::filesystem;

void write_when_different(const fs::path& path, const std::string& content) {
  if (protocol::read_whole_file(path) != content) protocol::write_file_by_rename(path, content);
}

std::optional<std::int64_t> attempt_number(const fs::path& folder) {
  constexpr std::string_view kPrefix = "attempt-";
  const std::string name = folder.filename();
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const auto number = base::whole_number(std::string_view(name).substr(kPrefix.size()));
  return number && *number >= 1 ? number : std::nullopt;
}

// What is set aside is not done, whoever marked it.
bool says_done(const protocol::AttemptPaths& paths, const std::string& trial_id) {
  const auto text = protocol::read_whole_file(paths.done());
  if (!text) return false;
  const auto document = nlohmann::json::parse(*text, nullptr, false);
  return document.is_object() && document.value("trial_id", "") == trial_id && !fs::exists(paths.superseded());
}

// What a strategy changes is taken back, then the two must be the same.
bool extends(const base::StudyPlan& grown, const base::StudyPlan& fresh) {
  if (grown.trials.size() < fresh.trials.size() || grown.arms.size() != fresh.arms.size() || !fresh.decisions.empty()) return false;
  base::StudyPlan shrunk = grown;
  shrunk.trials.resize(fresh.trials.size());
  shrunk.decisions.clear();
  shrunk.num_blocks = fresh.num_blocks;
  for (std::size_t i = 0; i < fresh.arms.size(); ++i) {
    shrunk.arms[i].status = fresh.arms[i].status;
    shrunk.arms[i].reason = fresh.arms[i].reason;
  }
  return base::to_json(shrunk) == base::to_json(fresh);
}

std::string mark_text(const AttemptOnDisk& attempt, const std::string& trial_id) {
  return nlohmann::json{{"schema", kDoneSchema}, {"trial_id", trial_id}, {"attempt", attempt.attempt}}.dump() + "\n";
}

constexpr const char* kPrepared = ".new-";

std::string host_prefix() { return launch::host_name() + "-"; }
std::string this_process() { return host_prefix() + std::to_string(::getpid()); }

// Folders that a process of this host was preparing when it died. Of another host nothing is known: those stay, and mean nothing.
void remove_prepared_by_the_dead(const fs::path& trial_folder) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(trial_folder, none)) {
    const std::string name = entry.path().filename();
    const auto mark = name.find(kPrepared + host_prefix());
    if (mark == std::string::npos) continue;
    const std::string pid_text = name.substr(mark + (kPrepared + host_prefix()).size());
    std::int64_t pid = 0;
    const auto parsed = std::from_chars(pid_text.data(), pid_text.data() + pid_text.size(), pid);
    if (parsed.ec == std::errc() && launch::is_gone_from_this_host(pid)) fs::remove_all(entry.path());
  }
}

// False when there is a folder of that name already: one that holds a file is not renamed over.
bool rename_to_absent(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (!error) return true;
  if (error == std::errc::directory_not_empty || error == std::errc::file_exists) return false;
  throw fs::filesystem_error("cannot rename into place", from, to, error);
}

}  // namespace

void StudyFolder::write_plan(const base::StudyPlan& plan) const {
  fs::create_directories(paths_.trials());
  protocol::pass_write_boundary("made", "study");
  write_when_different(paths_.sweep(), plan.sweep_text);
  write_when_different(paths_.plan(), base::to_json(plan).dump(2) + "\n");
}

std::optional<base::StudyPlan> StudyFolder::grown_plan(const base::StudyPlan& fresh) const {
  if (!base::awaits_decision(fresh)) return std::nullopt;
  const auto text = protocol::read_whole_file(paths_.plan());
  if (!text) return std::nullopt;
  const auto document = nlohmann::json::parse(*text, nullptr, false);
  if (document.is_discarded()) return std::nullopt;
  try {
    base::StudyPlan plan = base::parse_study_plan(document);
    return extends(plan, fresh) ? std::optional(std::move(plan)) : std::nullopt;
  } catch (const protocol::DocumentError&) {
    return std::nullopt;  // of another version: what it had decided is decided again, from the same results
  }
}

std::vector<AttemptOnDisk> StudyFolder::attempts(const std::string& trial_id) const {
  std::vector<AttemptOnDisk> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(paths_.trial(trial_id), none)) {
    const auto number = attempt_number(entry.path());
    if (number) found.push_back({*number, entry.path(), says_done({entry.path()}, trial_id)});
  }
  std::sort(found.begin(), found.end(), [](const AttemptOnDisk& a, const AttemptOnDisk& b) { return a.attempt < b.attempt; });
  return found;
}

bool StudyFolder::is_done(const std::string& trial_id) const {
  const auto all = attempts(trial_id);
  return std::any_of(all.begin(), all.end(), [](const AttemptOnDisk& attempt) { return attempt.is_done; });
}

std::int64_t StudyFolder::num_done(const base::StudyPlan& plan) const {
  return std::count_if(plan.trials.begin(), plan.trials.end(), [&](const protocol::Trial& trial) { return is_done(trial.trial_id); });
}

std::int64_t StudyFolder::num_marked_done(const std::vector<store::AttemptKey>& attempts) const {
  std::set<std::string_view> done;
  for (const store::AttemptKey& key : attempts)
    if (fs::exists(protocol::AttemptPaths{protocol::attempt_paths(paths_.trial(key.trial_id), key.attempt).root}.done()))
      done.insert(key.trial_id);
  return static_cast<std::int64_t>(done.size());
}

AttemptOnDisk StudyFolder::begin_attempt(const protocol::Trial& trial) const {
  const fs::path trial_folder = paths_.trial(trial.trial_id);
  remove_prepared_by_the_dead(trial_folder);
  const auto before = attempts(trial.trial_id);
  std::int64_t number = before.empty() ? 1 : before.back().attempt + 1;
  const fs::path prepared = protocol::attempt_paths(trial_folder, number).root.string() + kPrepared + this_process();
  fs::remove_all(prepared);
  fs::create_directories(prepared);
  protocol::pass_write_boundary("made", "attempt");
  protocol::write_file_unsynced(protocol::AttemptPaths{prepared}.trial(), protocol::to_json(trial).dump(2) + "\n");
  while (!rename_to_absent(prepared, protocol::attempt_paths(trial_folder, number).root)) ++number;
  protocol::pass_write_boundary("renamed", "attempt");
  return {number, protocol::attempt_paths(trial_folder, number).root, false};
}

void StudyFolder::mark_done(const AttemptOnDisk& attempt, const std::string& trial_id) const {
  protocol::sync_file_system(attempt.folder);
  protocol::write_file_unsynced(protocol::AttemptPaths{attempt.folder}.done(), mark_text(attempt, trial_id));
}

void StudyFolder::supersede(const AttemptOnDisk& attempt, const std::string& trial_id) const {
  const protocol::AttemptPaths paths{attempt.folder};
  if (!attempt.is_done) return protocol::write_file_unsynced(paths.superseded(), mark_text(attempt, trial_id));
  fs::rename(paths.done(), paths.superseded());
  protocol::pass_write_boundary("renamed", "superseded.json");
}

}  // namespace rematch::engine
