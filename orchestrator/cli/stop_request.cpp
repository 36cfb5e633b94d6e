#include "orchestrator/cli/stop_request.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

namespace rematch::cli {

void StopRequest::pause(std::chrono::milliseconds duration) {
  const sigset_t signals = engine::stop_signals();
  const timespec wait{duration.count() / 1000, static_cast<long>(duration.count() % 1000) * 1'000'000};
  if (::sigtimedwait(&signals, nullptr, &wait) > 0) came_ = true;
}

bool StopRequest::came() const { return came_ || engine::HeldSignals::pending().has_value(); }

slurm::Surroundings real_surroundings(slurm::Client& client, StopRequest& stop) {
  return {client, ::getuid(), [] { return std::chrono::steady_clock::now(); },
          [&stop](std::chrono::milliseconds duration) { stop.pause(duration); }, [&stop] { return stop.came(); }};
}

}  // namespace rematch::cli
