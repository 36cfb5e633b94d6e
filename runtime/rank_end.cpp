#include "runtime/rank_end.h"

#include <pthread.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "runtime/train/recorder.h"

namespace rematch::runtime {

using protocol::TrainExit;

TrainExit RankEnd::say(TrainExit exit_code, const std::function<void()>& write_last_words) {
  const std::lock_guard lock(mutex_);
  if (said_) return *said_;
  said_ = exit_code;
  write_last_words();
  return exit_code;
}

sigset_t take_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

void watch_signals(const sigset_t& signals, train::Recorder& recorder, RankEnd& end) {
  std::thread([signals, &recorder, &end] {
    int signal = 0;
    sigwait(&signals, &signal);
    const auto exit_code = end.say(TrainExit::kInterrupted, [&] {
      recorder.failed(protocol::FailureKind::kInterrupted, TrainExit::kInterrupted, "ended by signal " + std::to_string(signal));
    });
    ::_exit(static_cast<int>(exit_code));
  }).detach();
}

}  // namespace rematch::runtime
