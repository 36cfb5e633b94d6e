// Where one rank stopped: the innermost stage that it entered and did not leave, with step, phase and host. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "orchestrator/base/rows.h"

namespace rematch::collect {

// kind and message are left to the caller; the memory figures are set when the rank recorded an out-of-memory.
base::Failure place_failure(const base::RankRows& rank, const std::string& launch_host);

// Order of progress: a rank with less stands earlier. The last record's time counts only between equals.
struct Progress {
  bool answered = false;  // wrote its last lines when it was told to end: it was alive, and waited for a rank that was not
  std::int64_t num_steps_completed = 0;
  protocol::Stage stage = protocol::Stage::kSpawned;
  std::int64_t last_record_mono_ns = 0;
  auto operator<=>(const Progress&) const = default;
};
Progress progress_of(const base::RankRows& rank);

}  // namespace rematch::collect
