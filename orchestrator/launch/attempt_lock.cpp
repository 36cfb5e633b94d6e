#include "orchestrator/launch/attempt_lock.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "schemas/protocol/trial_paths.h"

namespace rematch::launch {

namespace {

using std::chrono::milliseconds;

// Each look is a request to a server on a network file system.
constexpr milliseconds kShortestPause{10};
constexpr milliseconds kLongestPause{100};

}  // namespace

std::optional<AttemptLock> AttemptLock::try_take(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder)) return std::nullopt;
  AttemptLock lock(FileLock::open(protocol::AttemptPaths{folder}.lock()));
  if (lock.lock_.try_take() == LockState::kAnothers) return std::nullopt;
  return lock;
}

bool wait_until_unsupervised(const std::filesystem::path& folder, const LockWait& wait) {
  const protocol::AttemptPaths paths{folder};
  FileLock lock = FileLock::open(paths.lock());  // by creating it: of one that is not there yet a network file system may know late
  return wait_until_unsupervised([&] { return lock.try_take(); }, [&] { return std::filesystem::exists(paths.launch()); }, wait);
}

bool wait_until_unsupervised(const std::function<LockState()>& ask, const std::function<bool()>& has_ended, const LockWait& wait) {
  const auto until = std::chrono::steady_clock::now() + wait.deadline;
  for (milliseconds pause = kShortestPause;; pause = std::min(2 * pause, kLongestPause)) {
    const LockState state = ask();
    if (state == LockState::kOurs || (state == LockState::kUnknown && has_ended())) return true;
    if (std::chrono::steady_clock::now() >= until) return state == LockState::kUnknown;
    if (!wait.goes_on()) return false;
    std::this_thread::sleep_for(pause);  // such a lock has no wait with a deadline
  }
}

}  // namespace rematch::launch
