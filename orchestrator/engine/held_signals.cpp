#include "orchestrator/engine/held_signals.h"

#include <time.h>

#include <system_error>

namespace rematch::engine {

namespace {

void set_mask(int how, const sigset_t& signals, sigset_t* before) {
  const int error = ::pthread_sigmask(how, &signals, before);
  if (error != 0) throw std::system_error(error, std::generic_category(), "pthread_sigmask");
}

}  // namespace

sigset_t stop_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGUSR1}) ::sigaddset(&signals, number);
  return signals;
}

StopCause cause_of_signal(int number) { return number == SIGUSR1 ? StopCause::kTimeLimit : StopCause::kSignal; }

HeldSignals::HeldSignals() { set_mask(SIG_BLOCK, stop_signals(), &before_); }
HeldSignals::~HeldSignals() {
  const sigset_t signals = stop_signals();
  const timespec at_once{0, 0};
  while (::sigtimedwait(&signals, nullptr, &at_once) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<StopCause> HeldSignals::pending() {
  sigset_t waiting;
  ::sigemptyset(&waiting);
  if (::sigpending(&waiting) != 0) return std::nullopt;
  for (const int number : {SIGTERM, SIGINT, SIGUSR1})
    if (::sigismember(&waiting, number) == 1) return cause_of_signal(number);
  return std::nullopt;
}

DeliveredSignals::DeliveredSignals() { set_mask(SIG_UNBLOCK, stop_signals(), &before_); }
DeliveredSignals::~DeliveredSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace rematch::engine
