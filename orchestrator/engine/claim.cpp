#include "orchestrator/engine/claim.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "orchestrator/engine/claim_files.h"
#include "orchestrator/launch/process.h"
#include "orchestrator/launch/this_host.h"
#include "schemas/protocol/record_file.h"

namespace rematch::engine {

namespace {

using protocol::RunnerEnd;
using protocol::RunnerRecord;
using Clock = std::chrono::steady_clock;

std::string content_of(const RunnerRecord& record) { return protocol::to_json(record).dump(2) + "\n"; }

// The order in which overlapping claims work: by epoch, then by name.
bool works_before(const ClaimName& a, const ClaimName& b) { return std::pair(a.epoch, a.scope) < std::pair(b.epoch, b.scope); }

std::string text_of(const ClaimName& name, const std::optional<RunnerRecord>& record) {
  std::string text = name.scope + ", epoch " + std::to_string(name.epoch);
  if (!record) return text;
  if (record->allocation) text += ", of job " + std::to_string(record->allocation->job_id);
  return text + ", pid " + std::to_string(record->pid) + " on " + (record->nodes.empty() ? record->host : record->nodes.front());
}

// Says so of a process that ended without a word, where that can be known at once.
bool has_ended(const std::optional<RunnerRecord>& record) {
  if (!record) return false;
  return record->end || (record->host == launch::host_name() && launch::is_gone_from_this_host(record->pid));
}

// How long the heartbeat of each earlier claim has stood still, by this process's clock.
class Pulse {
 public:
  Clock::duration still_for(const ClaimName& name, const std::optional<RunnerRecord>& record, Clock::time_point now) {
    Seen& seen = seen_.try_emplace(name, Seen{-1, now}).first->second;
    const std::int64_t heartbeat = record ? record->heartbeat : -1;
    if (heartbeat != seen.heartbeat) seen = {heartbeat, now};
    return now - seen.since;
  }

 private:
  struct Seen {
    std::int64_t heartbeat;
    Clock::time_point since;
  };
  std::map<ClaimName, Seen> seen_;
};

}  // namespace

ClaimClock real_clock() {
  return {[] { return Clock::now(); }, [](std::chrono::milliseconds duration) { std::this_thread::sleep_for(duration); },
          [] { return launch::unix_now_ns(); }};
}

struct Claim::Rival {
  ClaimName name;
  std::optional<RunnerRecord> record;  // nullopt: not readable at this moment
};

Claim::Claim(const std::filesystem::path& study_folder, RunnerRecord record, ClaimOptions options)
    : paths_{study_folder}, record_(std::move(record)), options_(std::move(options)), last_beat_(options_.clock.now()) {
  std::filesystem::create_directories(paths_.runners());
  record_.start_unix_ns = options_.clock.unix_ns();
  while (!file()) {
  }
  give_way_to_racers();
}

// One after the highest epoch of all claims that overlap.
bool Claim::file() {
  record_.epoch = 1;
  for (const ClaimName& other : claims_in(paths_.runners()))
    if (options_.overlaps(other.scope)) record_.epoch = std::max(record_.epoch, other.epoch + 1);
  record_.heartbeat_unix_ns = options_.clock.unix_ns();
  return create_exclusively(paths_.runner(record_.scope, record_.epoch), content_of(record_), record_.runner_id);
}

// A claim of another scope that was filed at the same moment may stand behind this one without having seen it. Whoever sees one behind its
// own files anew, behind it: so of two that both work, the later has seen the earlier.
void Claim::give_way_to_racers() {
  const auto is_behind = [&](const ClaimName& other) {
    const ClaimName own{record_.scope, record_.epoch};
    return other.scope != own.scope && options_.overlaps(other.scope) && works_before(own, other);
  };
  for (;;) {
    const auto claims = claims_in(paths_.runners());
    if (std::none_of(claims.begin(), claims.end(), is_behind)) return;
    std::filesystem::remove(paths_.runner(record_.scope, record_.epoch));
    while (!file()) {
    }
  }
}

std::vector<Claim::Rival> Claim::earlier_claims() const {
  std::vector<Rival> rivals;
  for (ClaimName& other : claims_in(paths_.runners())) {
    if (!options_.overlaps(other.scope) || !works_before(other, {record_.scope, record_.epoch})) continue;
    auto record = try_read_claim(paths_.runner(other.scope, other.epoch));
    if (!has_ended(record)) rivals.push_back({std::move(other), std::move(record)});
  }
  return rivals;
}

std::optional<NotGranted> Claim::wait_until_granted() {
  Pulse pulse;
  const auto begin = options_.clock.now();
  std::string told;
  for (;;) {
    beat();
    if (is_superseded()) return refuse(RunnerEnd::kSuperseded, "a later runner has claimed " + record_.scope);
    if (options_.give_up()) return refuse(RunnerEnd::kInterrupted, "ended while it waited for another runner");
    const auto now = options_.clock.now();
    std::vector<Rival> rivals = earlier_claims();
    std::erase_if(rivals, [&](const Rival& rival) { return pulse.still_for(rival.name, rival.record, now) >= options_.stale_after; });
    if (rivals.empty()) return std::nullopt;
    const std::string whom = text_of(rivals.front().name, rivals.front().record);
    if (now - begin >= options_.deadline)
      return refuse(RunnerEnd::kFailed, "another runner (" + whom + ") still works on trials of " + record_.scope + " after " +
                                            std::to_string(options_.deadline.count() / 1000) + " s. Let it end, or cancel its job");
    if (whom != told) options_.tell("waiting for another runner: " + whom);
    told = whom;
    options_.clock.sleep(options_.look_every);
  }
}

void Claim::beat() {
  const auto now = options_.clock.now();
  if (now - last_beat_ < kBeatInterval && record_.heartbeat > 0) return;
  last_beat_ = now;
  ++record_.heartbeat;
  write();
}

bool Claim::is_superseded() const {
  const auto claims = claims_in(paths_.runners());
  return std::any_of(claims.begin(), claims.end(),
                     [&](const ClaimName& other) { return other.scope == record_.scope && other.epoch > record_.epoch; });
}

void Claim::finish(RunnerEnd end, const std::string& message) {
  record_.end = end;
  record_.end_unix_ns = options_.clock.unix_ns();
  record_.message = message;
  write();
}

void Claim::write() {
  record_.heartbeat_unix_ns = options_.clock.unix_ns();
  const auto path = paths_.runner(record_.scope, record_.epoch);
  if (record_.end)
    protocol::write_file_by_rename(path, content_of(record_));
  else
    protocol::write_file_unsynced(path, content_of(record_));
}

NotGranted Claim::refuse(RunnerEnd end, const std::string& message) {
  finish(end, message);
  return {end, message};
}

}  // namespace rematch::engine
