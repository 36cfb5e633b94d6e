#include "orchestrator/cli/until_interrupted.h"

#include <time.h>

#include <algorithm>
#include <cerrno>

namespace rematch::cli {

namespace {

sigset_t only_interrupt() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

UntilInterrupted::UntilInterrupted() : before_() {
  const sigset_t set = only_interrupt();
  ::pthread_sigmask(SIG_BLOCK, &set, &before_);
}

// One that came after the last wait() is taken off, lest it end the program once it is let through.
UntilInterrupted::~UntilInterrupted() {
  wait(std::chrono::milliseconds(0));
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool UntilInterrupted::wait(std::chrono::milliseconds pause) {
  const sigset_t set = only_interrupt();
  const auto until = std::chrono::steady_clock::now() + pause;
  while (!interrupted_) {
    const auto left = std::max(std::chrono::steady_clock::duration::zero(), until - std::chrono::steady_clock::now());
    const auto left_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
    const timespec timeout{left_ns / 1'000'000'000, left_ns % 1'000'000'000};
    if (::sigtimedwait(&set, nullptr, &timeout) == SIGINT)
      interrupted_ = true;
    else if (errno != EINTR)
      return true;
  }
  return false;
}

}  // namespace rematch::cli
