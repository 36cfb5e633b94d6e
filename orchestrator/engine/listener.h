// What the engine tells whoever watches it. The verbs print it; tests collect it. Called on the engine's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "orchestrator/base/rows.h"

namespace rematch::engine {

struct TrialPlace {
  const protocol::Trial& trial;
  std::int64_t attempt = 1;
  std::int64_t number = 1;      // 1-based, in the plan's order
  std::int64_t num_trials = 0;  // of the plan
};

struct TrialProgress {
  std::int64_t num_steps_completed = 0;                  // see record_tail.h
  std::optional<std::int64_t> hot_peak_allocated_bytes;  // largest lifetime peak of any rank so far
  std::optional<double> remaining_s;                     // of the study; null before anything is known
};

class Listener {
 public:
  virtual ~Listener() = default;
  virtual void trial_started(const TrialPlace& place) = 0;
  virtual void trial_progressed(const TrialPlace& place, const TrialProgress& progress) = 0;
  virtual void trial_ended(const TrialPlace& place, const base::AttemptRows& attempt) = 0;
  virtual void remarked(const std::string& message) = 0;  // attempts taken over, interrupts, what went wrong
};

}  // namespace rematch::engine
