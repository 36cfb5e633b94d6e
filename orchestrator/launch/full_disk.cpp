#include "orchestrator/launch/full_disk.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string_view>

namespace rematch::launch {

namespace {

constexpr std::uint64_t kFewBytes = 128 << 10;  // less than the records of one rank
constexpr const char* kConsequence = ": a rank that cannot write its record fails. Free space, then run again";

struct Room {
  std::uint64_t free_bytes = 0;
  bool out_of_files = false;
};

std::optional<Room> room_of(const std::filesystem::path& folder) {
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) return std::nullopt;
  return Room{static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize, disk.f_files > 0 && disk.f_favail == 0};
}

std::error_code last_error() { return {errno, std::generic_category()}; }

std::error_code write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return last_error();
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(descriptor) == 0 ? std::error_code() : last_error();
}

}  // namespace

bool is_full_disk(const std::error_code& code) {
  return (code.category() == std::generic_category() || code.category() == std::system_category()) &&
         (code.value() == ENOSPC || code.value() == EDQUOT);
}

std::error_code try_to_write(const std::filesystem::path& folder) {
  std::string path = folder / "room-XXXXXX";
  const int descriptor = ::mkostemp(path.data(), O_CLOEXEC);
  if (descriptor < 0) return last_error();
  ::unlink(path.c_str());
  const std::error_code written = write_all(descriptor, std::string(kFewBytes, '\0'));
  const std::error_code closed = ::close(descriptor) == 0 ? std::error_code() : last_error();  // where some file systems say it
  return written ? written : closed;
}

std::optional<std::string> full_disk(const std::filesystem::path& folder,
                                     const std::function<std::error_code(const std::filesystem::path&)>& try_write) {
  const auto room = room_of(folder);
  if (room && (room->free_bytes < kFewBytes || room->out_of_files))
    return "the disk of " + folder.string() + " is full (" +
           (room->out_of_files ? "no further file" : std::to_string(room->free_bytes) + " bytes left") + ")" + kConsequence;
  const std::error_code refused = try_write(folder);
  if (!is_full_disk(refused)) return std::nullopt;
  return "the disk of " + folder.string() + " is full for this user (" + refused.message() + ", with " +
         (room ? std::to_string(room->free_bytes) : "unknown") + " bytes left on it)" + kConsequence;
}

}  // namespace rematch::launch
