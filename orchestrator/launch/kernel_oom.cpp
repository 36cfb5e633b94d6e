#include "orchestrator/launch/kernel_oom.h"

#include <fstream>
#include <string>
#include <vector>

namespace rematch::launch {

namespace {

namespace fs = std::filesystem;

std::optional<std::int64_t> counter_in(const fs::path& file_path) {
  std::ifstream file(file_path);
  std::string name;
  std::int64_t count = 0;
  while (file >> name >> count)
    if (name == "oom_kill") return count;
  return std::nullopt;
}

// "4:memory:/a/b" or, of version 2, "0::/a/b". A container sees its own group at the mount's root, whatever path the host has for it.
std::vector<fs::path> places_to_look(const std::string& line, const fs::path& mount) {
  const auto second = line.find(':', line.find(':') + 1);
  if (second == std::string::npos) return {};
  const std::string controllers = line.substr(line.find(':') + 1, second - line.find(':') - 1);
  const fs::path group = line.substr(second + 1) == "/" ? fs::path() : fs::path(line.substr(second + 2));
  if (controllers.empty()) return {mount / group / "memory.events", mount / "memory.events"};
  if (controllers != "memory") return {};
  return {mount / "memory" / group / "memory.oom_control", mount / "memory" / "memory.oom_control"};
}

}  // namespace

std::optional<std::int64_t> num_oom_kills(const fs::path& own_groups, const fs::path& mount) {
  std::ifstream groups(own_groups);
  for (std::string line; std::getline(groups, line);)
    for (const fs::path& place : places_to_look(line, mount))
      if (const auto count = counter_in(place)) return count;
  return std::nullopt;
}

std::optional<std::string> MemoryKills::account_for_one() {
  const auto now = num_oom_kills();
  if (!num_accounted_for_ || !now || *now <= *num_accounted_for_) return std::nullopt;
  ++*num_accounted_for_;
  return "ended by the kernel's memory killer: SIGKILL that the supervisor did not send, and oom_kill of the control group rose to " +
         std::to_string(*now);
}

}  // namespace rematch::launch
