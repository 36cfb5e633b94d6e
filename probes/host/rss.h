// Resident memory of this process, from /proc/self/status. Safe from any thread. Failure: nullopt where there is no such file or line.
#pragma once

#include <cstdint>
#include <optional>

namespace rematch::probes {

struct ResidentBytes {
  std::optional<std::int64_t> current_bytes;
  std::optional<std::int64_t> peak_bytes;  // since the process began
};

ResidentBytes resident_bytes();

}  // namespace rematch::probes
