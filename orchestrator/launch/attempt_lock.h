// The sign that an attempt, or the part of it on one node, is still supervised: its supervisor holds a lock on the file `lock` of its
// folder for as long as it lives, and so does the launcher of a job step. Where the file system locks nothing, nothing is known but what
// the launch record says.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

#include "orchestrator/launch/file_lock.h"

namespace rematch::launch {

// For who waits for another's lock.
struct LockWait {
  std::chrono::milliseconds deadline{0};
  std::function<bool()> goes_on = [] { return true; };  // asked at each look: false gives up
};

class AttemptLock {
 public:
  // nullopt when another holds it, or when there is no such folder. On a file system that locks nothing everybody gets it.
  static std::optional<AttemptLock> try_take(const std::filesystem::path& folder);

 private:
  explicit AttemptLock(FileLock lock) : lock_(std::move(lock)) {}
  FileLock lock_;
};

// True once nobody supervises what runs in the folder: the lock is free, or, where that cannot be known, launch.json is there or the
// deadline has passed. False: it is held at the deadline, or the waiter gave up.
bool wait_until_unsupervised(const std::filesystem::path& folder, const LockWait& wait);

// The same by any way of asking for the lock; `has_ended`: whether the folder has its launch record.
bool wait_until_unsupervised(const std::function<LockState()>& ask, const std::function<bool()>& has_ended, const LockWait& wait);

}  // namespace rematch::launch
