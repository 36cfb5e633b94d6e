// Any bytes as a rank's record file: reading never throws on content, and what was read says the same when it is written and read again.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "schemas/protocol/rank_record.h"
#include "schemas/protocol/record_file.h"

namespace {

// The reader wants a path; a file in memory has one.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("record", MFD_CLOEXEC)) {
    if (descriptor_ < 0) std::abort();
  }
  std::filesystem::path fill(const std::uint8_t* bytes, std::size_t num_bytes) {
    if (::ftruncate(descriptor_, 0) != 0) std::abort();
    if (::pwrite(descriptor_, bytes, num_bytes, 0) != static_cast<ssize_t>(num_bytes)) std::abort();
    return "/proc/self/fd/" + std::to_string(descriptor_);
  }

 private:
  int descriptor_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t num_bytes) {
  static MemoryFile file;
  using namespace rematch::protocol;  // NOLINT(google-build-using-namespace)
  for (const RankRecord& record : read_record_file(file.fill(bytes, num_bytes)).records) {
    const std::string line = to_line(record);
    if (line.find('\n') != std::string::npos || to_line(parse_line(line)) != line) std::abort();
  }
  return 0;
}
