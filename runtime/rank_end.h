// The end of a rank's process. Three threads may bring it about: the main thread, the one that waits for signals, and the watch on the
// peers. The first to speak decides the last record line and the exit code.
#pragma once

#include <csignal>
#include <functional>
#include <mutex>
#include <optional>

#include "schemas/protocol/outcome.h"

namespace rematch::train {
class Recorder;
}

namespace rematch::runtime {

class RankEnd {
 public:
  // Writes the last words unless others were written before. Returns the exit code that goes with what was written.
  protocol::TrainExit say(protocol::TrainExit exit_code, const std::function<void()>& write_last_words);

 private:
  std::mutex mutex_;
  std::optional<protocol::TrainExit> said_;
};

// Call it before any thread is made: all inherit it. SIGPIPE is ignored from then on: Gloo writes to connections that a dead peer has
// closed, and that must come back as an error.
sigset_t take_signals();
// SIGTERM and SIGINT, which take_signals blocked, end the rank at once with a last line; a thread waits for them so that no handler has to
// write. Both outlive it.
void watch_signals(const sigset_t& signals, train::Recorder& recorder, RankEnd& end);

}  // namespace rematch::runtime
