#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include "orchestrator/doctor/machine.h"
#include "orchestrator/launch/descriptor_limit.h"
#include "orchestrator/launch/kernel_oom.h"

namespace rematch::doctor {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kManyRanks = 512;
constexpr std::int64_t kFewProcesses = 4096;
constexpr std::int64_t kLittleMemoryBytes = std::int64_t{1} << 30;

std::string limit_text(rlim_t limit) { return limit == RLIM_INFINITY ? "unlimited" : std::to_string(limit); }

std::string both(const rlimit& limit) { return "soft " + limit_text(limit.rlim_cur) + ", hard " + limit_text(limit.rlim_max); }

rlimit limit_of(int resource) {
  rlimit limit{};
  ::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
  return limit;
}

Finding cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const unsigned all = std::thread::hardware_concurrency();
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    return {"cores", State::kOk, "at least one a rank, for times that compare", std::to_string(all), ""};
  return {"cores", State::kOk, "at least one a rank, for times that compare",
          std::to_string(CPU_COUNT(&allowed)) + " usable, " + std::to_string(all) + " known", ""};
}

std::optional<std::int64_t> kib_of(const std::string& name) {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    std::int64_t kib = 0;
    if (words >> key >> kib && key == name + ":") return kib;
  }
  return std::nullopt;
}

// Of the control group where it is mounted; a limit that no machine has is none.
std::optional<std::int64_t> group_limit_bytes() {
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    std::int64_t bytes = 0;
    if (file >> bytes && bytes < (std::int64_t{1} << 60)) return bytes;
  }
  return std::nullopt;
}

Finding memory() {
  Finding finding{"memory", State::kOk, "room for all ranks of a trial", "not told", ""};
  const auto available_kib = kib_of("MemAvailable");
  if (!available_kib) return finding;
  const auto limit = group_limit_bytes();
  finding.found = bytes_text(*available_kib * 1024) + " available, control group limit " + (limit ? bytes_text(*limit) : "none");
  if (std::min(*available_kib * 1024, limit.value_or(*available_kib * 1024)) >= kLittleMemoryBytes) return finding;
  finding.state = State::kWarning;
  finding.advice = "End other work here, or raise the group's limit: ranks on cpu may be killed for want of memory";
  return finding;
}

Finding open_files() {
  const rlimit limit = limit_of(RLIMIT_NOFILE);
  const auto wanted = static_cast<rlim_t>(launch::descriptors_wanted(kManyRanks));
  Finding finding{"open_files", State::kOk, "hard limit of " + std::to_string(wanted) + " for " + std::to_string(kManyRanks) + " ranks",
                  both(limit), ""};
  if (limit.rlim_max >= wanted) return finding;
  const auto own = launch::descriptors_wanted(0);
  const std::int64_t most = static_cast<std::int64_t>(limit.rlim_max) - own;
  finding.state = most < 1 ? State::kProblem : State::kWarning;
  finding.advice =
      "At most " + std::to_string(std::max<std::int64_t>(most, 0)) + " ranks a trial can be watched; raise nofile in limits.conf";
  return finding;
}

Finding processes() {
  const rlimit limit = limit_of(RLIMIT_NPROC);
  Finding finding{"processes", State::kOk, "at least " + std::to_string(kFewProcesses) + " processes and threads of this user", both(limit),
                  ""};
  if (limit.rlim_cur >= static_cast<rlim_t>(kFewProcesses)) return finding;
  finding.state = State::kWarning;
  finding.advice = "Raise it (`ulimit -u`): each rank has several threads, and one that cannot be started ends its trial";
  return finding;
}

Finding locked_memory() {
  const rlimit limit = limit_of(RLIMIT_MEMLOCK);
  const bool has_infiniband = fs::exists("/sys/class/infiniband") && !fs::is_empty("/sys/class/infiniband");
  Finding finding{"locked_memory", State::kOk, has_infiniband ? "unlimited, for NCCL over InfiniBand" : "any: there is no InfiniBand",
                  both(limit), ""};
  if (!has_infiniband || limit.rlim_cur == RLIM_INFINITY) return finding;
  finding.state = State::kWarning;
  finding.advice = "Set memlock to unlimited in limits.conf, or NCCL falls back to sockets";
  return finding;
}

Finding memory_killer() {
  Finding finding{"memory_killer", State::kOk, "a counter of processes that the kernel ended for want of memory", "not told", ""};
  if (const auto kills = launch::num_oom_kills()) {
    finding.found = std::to_string(*kills) + " in this control group so far";
    return finding;
  }
  finding.state = State::kWarning;
  finding.advice =
      "A rank that the kernel's memory killer ends will be called crashed; mount the memory control group to have it told apart";
  return finding;
}

}  // namespace

Findings examine_limits() { return {cores(), memory(), open_files(), processes(), locked_memory(), memory_killer()}; }

}  // namespace rematch::doctor
