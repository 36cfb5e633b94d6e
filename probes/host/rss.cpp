#include "probes/host/rss.h"

#include <cstdlib>
#include <string>

#include "probes/host/host_identity.h"
#include "schemas/protocol/record_file.h"

namespace rematch::probes {

namespace {

std::optional<std::int64_t> kilobytes_of(const std::string& status, const char* key) {
  const auto value = value_of_key(status, key);
  if (!value) return std::nullopt;
  return std::strtoll(value->c_str(), nullptr, 10) * 1024;
}

}  // namespace

ResidentBytes resident_bytes() {
  const std::string status = protocol::read_whole_file("/proc/self/status").value_or("");
  return {kilobytes_of(status, "VmRSS"), kilobytes_of(status, "VmHWM")};
}

}  // namespace rematch::probes
