#include "orchestrator/launch/attempt_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <thread>
#include <utility>

namespace rematch::launch {

std::optional<AttemptLock> AttemptLock::try_take(const std::filesystem::path& attempt_folder) {
  const int descriptor = ::open(attempt_folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  AttemptLock lock(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return std::nullopt;
  return lock;
}

std::optional<AttemptLock> AttemptLock::take_within(const std::filesystem::path& attempt_folder, std::chrono::milliseconds deadline) {
  const auto until = std::chrono::steady_clock::now() + deadline;
  for (;;) {
    auto lock = try_take(attempt_folder);
    if (lock || std::chrono::steady_clock::now() >= until) return lock;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // flock has no wait with a deadline
  }
}

AttemptLock::AttemptLock(AttemptLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

AttemptLock::~AttemptLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace rematch::launch
