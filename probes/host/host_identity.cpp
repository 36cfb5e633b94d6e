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

// The fixed cpu_set_t ends at 1024 cores; the kernel says EINVAL when the mask is too small. Empty: it does not tell.
std::vector<cpu_set_t> affinity_mask() {
  for (std::size_t num_words = 16; num_words <= 4096; num_words *= 2) {
    std::vector<cpu_set_t> mask(num_words);
    if (::sched_getaffinity(0, mask.size() * sizeof(cpu_set_t), mask.data()) == 0) return mask;
  }
  return {};
}

std::vector<std::size_t> usable_cores() {
  const std::vector<cpu_set_t> mask = affinity_mask();
  const std::size_t num_bytes = mask.size() * sizeof(cpu_set_t);
  std::vector<std::size_t> cores;
  for (std::size_t core = 0; core < num_bytes * 8; ++core)
    if (CPU_ISSET_S(core, num_bytes, mask.data())) cores.push_back(core);
  return cores;
}

std::optional<std::int64_t> num_usable_cores() {
  const auto num_cores = static_cast<std::int64_t>(usable_cores().size());
  return num_cores == 0 ? std::nullopt : std::optional(num_cores);
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

std::string cpu_affinity() {
  const std::vector<std::size_t> cores = usable_cores();
  std::string text;
  for (std::size_t first = 0, last = 0; first < cores.size(); first = last + 1) {
    last = first;
    while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(cores[first]);
    if (last > first) text += "-" + std::to_string(cores[last]);
  }
  return text;
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
