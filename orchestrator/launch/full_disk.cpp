#include "orchestrator/launch/full_disk.h"

#include <sys/statvfs.h>

#include <cstdint>

namespace rematch::launch {

std::optional<std::string> full_disk(const std::filesystem::path& folder) {
  constexpr std::uint64_t kFewBytes = 128 << 10;  // less than the records of one rank
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) return std::nullopt;
  const std::uint64_t free_bytes = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
  const bool out_of_files = disk.f_files > 0 && disk.f_favail == 0;
  if (free_bytes >= kFewBytes && !out_of_files) return std::nullopt;
  return "the disk of " + folder.string() + " is full (" + (out_of_files ? "no further file" : std::to_string(free_bytes) + " bytes left") +
         "): a rank that cannot write its record fails. Free space, then run again";
}

}  // namespace rematch::launch
