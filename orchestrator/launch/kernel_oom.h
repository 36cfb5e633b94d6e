// What the kernel's memory killer did in this process's control group: the evidence that a SIGKILL of nobody's was one of memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace rematch::launch {

// Processes of this control group and those below it that the kernel ended for want of memory, since the group was made: `oom_kill` of
// memory.events (cgroup v2) or memory.oom_control (v1). nullopt: the system does not tell. A machine that runs out of memory as a whole
// counts in the groups of the processes that it ends.
std::optional<std::int64_t> num_oom_kills(const std::filesystem::path& own_groups = "/proc/self/cgroup",
                                          const std::filesystem::path& mount = "/sys/fs/cgroup");

// Counts from when it was made: one SIGKILL that nobody of ours sent is accounted for by each process that the kernel ended since then.
class MemoryKills {
 public:
  // What is said of a process that ended by such a SIGKILL. nullopt: the kernel has ended no further one, so that it has another cause.
  std::optional<std::string> account_for_one();

 private:
  std::optional<std::int64_t> num_accounted_for_ = num_oom_kills();
};

}  // namespace rematch::launch
