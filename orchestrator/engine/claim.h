// The claim of one runner on one part of a study: runners/<scope>-<epoch>.json. Of runners of one scope the highest epoch alone works; the
// one before ends when it sees a later. Of runners whose parts overlap without being the same (a block, and the whole study) the later
// waits. Who was killed is told by a heartbeat that stands still. One thread; failure is std::system_error on a disk that refuses.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/engine/overseer.h"
#include "schemas/protocol/runner_record.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::engine {

// Both of this process's own; tests have others.
struct ClaimClock {
  std::function<std::chrono::steady_clock::time_point()> now;
  std::function<void(std::chrono::milliseconds)> sleep;
  std::function<std::int64_t()> unix_ns;
};
ClaimClock real_clock();

struct ClaimOptions {
  std::function<bool(const std::string& scope)> overlaps;  // whether that part shares trials with this; its own included
  std::chrono::milliseconds deadline{600'000};             // of waiting for others
  std::chrono::milliseconds stale_after{30'000};           // without a heartbeat, by this process's clock
  std::chrono::milliseconds look_every{500};               // while waiting
  std::function<bool()> give_up = [] { return false; };    // asked as often: a signal came
  std::function<void(const std::string&)> tell = [](const std::string&) {};
  ClaimClock clock = real_clock();
};

// Why the part may not be worked on.
struct NotGranted {
  protocol::RunnerEnd end = protocol::RunnerEnd::kFailed;  // kSuperseded, kInterrupted (give_up), kFailed (deadline)
  std::string message;
};

class Claim {
 public:
  // Files it under the next epoch, exclusively. `record` has everything but epoch and heartbeat.
  Claim(const std::filesystem::path& study_folder, protocol::RunnerRecord record, ClaimOptions options);

  // Returns when nobody else works on the part, or must not: then with the reason, which is on record as its end.
  std::optional<NotGranted> wait_until_granted();
  // Rewrites the record when the last time is long enough ago.
  void beat();
  bool is_superseded() const;
  // The last word. May be said again, when what was announced could not be done.
  void finish(protocol::RunnerEnd end, const std::string& message);

  const protocol::RunnerRecord& record() const { return record_; }

 private:
  struct Rival;
  bool file();
  void give_way_to_racers();
  std::vector<Rival> earlier_claims() const;
  void write();
  NotGranted refuse(protocol::RunnerEnd end, const std::string& message);

  protocol::StudyPaths paths_;
  protocol::RunnerRecord record_;
  ClaimOptions options_;
  std::chrono::steady_clock::time_point last_beat_;
};

}  // namespace rematch::engine
