#include "orchestrator/launch/file_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace rematch::launch {

namespace {

// l_pid must be 0.
struct flock whole_file(short kind) {
  struct flock lock {};
  lock.l_type = kind;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

FileLock::FileLock(const std::filesystem::path& path, int flags)
    : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0644)), error_(descriptor_ < 0 ? errno : 0) {}

FileLock FileLock::open(const std::filesystem::path& path) { return {path, O_RDWR | O_CREAT}; }
FileLock FileLock::open_to_look(const std::filesystem::path& path) { return {path, O_RDONLY}; }

LockState FileLock::try_take() {
  if (!is_open()) return LockState::kUnknown;
  struct flock lock = whole_file(F_WRLCK);
  error_ = ::fcntl(descriptor_, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
  if (error_ == 0) return LockState::kOurs;
  return error_ == EAGAIN || error_ == EACCES ? LockState::kAnothers : LockState::kUnknown;
}

bool FileLock::is_another_s() const {
  struct flock lock = whole_file(F_RDLCK);
  return is_open() && ::fcntl(descriptor_, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)), error_(other.error_) {}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace rematch::launch
