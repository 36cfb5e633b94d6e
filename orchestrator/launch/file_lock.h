// A lock on a whole file, of an open file description: it holds between the hosts of a network file system too (the file is opened for
// writing, as that wants it), and the kernel drops it with the last process that has the description. Used for the workspace and for
// attempts. One owner; no failure is thrown.
#pragma once

#include <filesystem>
#include <string>

namespace rematch::launch {

enum class LockState {
  kOurs,
  kAnothers,  // another description holds it, in this process or another
  kUnknown,   // the file cannot be opened, or its file system locks nothing: error() says why
};

class FileLock {
 public:
  // Creates the file when there is none. Takes no lock yet.
  static FileLock open(const std::filesystem::path& path);
  // The file as it is, for a look: try_take() is not for it.
  static FileLock open_to_look(const std::filesystem::path& path);

  LockState try_take();  // at once
  bool is_another_s() const;
  int error() const { return error_; }  // errno of what failed last; 0: nothing did
  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  FileLock(const std::filesystem::path& path, int flags);
  int descriptor_;
  int error_;
};

}  // namespace rematch::launch
