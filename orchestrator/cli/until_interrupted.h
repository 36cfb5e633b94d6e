// A user's Ctrl-C as the answer to a wait, for verbs that look again and again until they are told to stop.
#pragma once

#include <signal.h>

#include <chrono>

namespace rematch::cli {

// While one exists SIGINT is held back, and noticed by wait() alone. To be made before other threads are. Not to be nested.
class UntilInterrupted {
 public:
  UntilInterrupted();
  ~UntilInterrupted();
  UntilInterrupted(const UntilInterrupted&) = delete;
  UntilInterrupted& operator=(const UntilInterrupted&) = delete;

  // true: the time has passed. false, at once: SIGINT came, now or before.
  bool wait(std::chrono::milliseconds pause);

 private:
  sigset_t before_;
  bool interrupted_ = false;
};

}  // namespace rematch::cli
