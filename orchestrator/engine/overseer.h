// Who watches over a run that carries a part of a study out inside an allocation, and the reasons for which a run stops early. The engine
// asks on its thread; what an overseer does must take milliseconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "orchestrator/base/rows.h"

namespace rematch::engine {

enum class StopCause {
  kSignal,         // SIGINT or SIGTERM
  kTimeLimit,      // SIGUSR1: the allocation's time limit is near
  kTooLittleTime,  // what is left of the allocation does not suffice for another block
  kSuperseded,     // a later runner has claimed the part
  kCancelled,      // the submission was cancelled
  kNodeLost,       // the allocation has fewer nodes than it began with
};

// How often beat() is called at least, while a trial runs, one is waited for, and between two.
inline constexpr std::chrono::seconds kBeatInterval{5};

class Overseer {
 public:
  virtual ~Overseer() = default;
  // Says that this run lives. kSuperseded: nothing that it does counts any more; the trial in flight is ended at once and not marked done.
  virtual std::optional<StopCause> beat() = 0;
  virtual std::optional<StopCause> before_trial() = 0;
  // Of an attempt that says nothing of its arm: whether the next would meet the same.
  virtual std::optional<StopCause> after_inconclusive(const base::AttemptRows& attempt) = 0;
  // Until the allocation ends; nullopt: not known, or without end.
  virtual std::optional<std::chrono::seconds> time_left() = 0;
};

}  // namespace rematch::engine
