// The sign that an attempt is still supervised: its supervisor holds a flock on the attempt's folder for as long as it lives.
// The kernel drops the lock with the process, so a lock that can be taken means that nobody supervises.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

namespace rematch::launch {

class AttemptLock {
 public:
  // nullopt when another process holds it, or when there is no such folder. On a file system that locks no folders everybody takes it.
  static std::optional<AttemptLock> try_take(const std::filesystem::path& attempt_folder);
  // Tries until the deadline.
  static std::optional<AttemptLock> take_within(const std::filesystem::path& attempt_folder, std::chrono::milliseconds deadline);

  AttemptLock(AttemptLock&& other) noexcept;
  AttemptLock& operator=(AttemptLock&&) = delete;
  ~AttemptLock();

 private:
  explicit AttemptLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace rematch::launch
