// The signals that end a run cleanly, held back by the kernel for as long as nobody watches for them: before the first trial, and while
// records are written at the end. TrialRunner takes them up for its lifetime. Of one thread, before others are started.
#pragma once

#include <signal.h>

#include <optional>

#include "orchestrator/engine/overseer.h"

namespace rematch::engine {

// SIGINT, SIGTERM and SIGUSR1.
sigset_t stop_signals();

// What a signal asks for.
StopCause cause_of_signal(int number);

class HeldSignals {
 public:
  HeldSignals();   // blocks them
  ~HeldSignals();  // as it was before; what came meanwhile and was not taken up is forgotten
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  // What came and was not delivered; SIGINT and SIGTERM go before SIGUSR1.
  static std::optional<StopCause> pending();

 private:
  sigset_t before_;
};

// The reverse: delivers them for its lifetime, then blocks again those that were.
class DeliveredSignals {
 public:
  DeliveredSignals();
  ~DeliveredSignals();
  DeliveredSignals(const DeliveredSignals&) = delete;
  DeliveredSignals& operator=(const DeliveredSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace rematch::engine
