#include "probes/host/host_identity.h"

#include <limits.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <vector>

#include "schemas/protocol/record_file.h"

namespace rematch::probes {

namespace {

// The fixed cpu_set_t ends at 1024 cores; the kernel says EINVAL when the mask is too small.
std::optional<std::int64_t> num_usable_cores() {
  for (std::size_t num_words = 16; num_words <= 4096; num_words *= 2) {
    std::vector<cpu_set_t> mask(num_words);
    const std::size_t num_bytes = mask.size() * sizeof(cpu_set_t);
    if (::sched_getaffinity(0, num_bytes, mask.data()) == 0) return CPU_COUNT_S(num_bytes, mask.data());
  }
  return std::nullopt;
}

std::optional<std::int64_t> total_memory_bytes() {
  const auto total = value_of_key(protocol::read_whole_file("/proc/meminfo").value_or(""), "MemTotal");
  if (!total) return std::nullopt;
  return std::strtoll(total->c_str(), nullptr, 10) * 1024;
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

std::optional<std::string> value_of_key(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && trimmed(line.substr(0, colon)) == key) return trimmed(line.substr(colon + 1));
  }
  return std::nullopt;
}

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

std::string cpu_model_name() {
  const std::string text = protocol::read_whole_file("/proc/cpuinfo").value_or("");
  for (const char* key : {"model name", "Model", "Hardware"})  // x86, then what ARM kernels write
    if (const auto name = value_of_key(text, key)) return *name;
  return "unknown CPU";
}

HostIdentity host_identity() { return {host_name(), cpu_model_name(), num_usable_cores(), total_memory_bytes()}; }

}  // namespace rematch::probes
