#include "orchestrator/launch/descendants.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace rematch::launch {

namespace {

using Clock = std::chrono::steady_clock;

bool has_children() {
  siginfo_t ignored{};
  return ::waitid(P_ALL, 0, &ignored, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

// "pid (name) state ppid ...": the name may hold anything, so the fields are counted from the last parenthesis.
std::optional<pid_t> parent_of(const std::filesystem::path& process_folder) {
  std::ifstream file(process_folder / "stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(name_end + 1));
  char state = 0;
  pid_t parent = 0;
  if (!(fields >> state >> parent)) return std::nullopt;
  return parent;
}

std::vector<pid_t> own_children() {
  std::vector<pid_t> children;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (!std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) continue;
    if (parent_of(entry.path()) == ::getpid()) children.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return children;
}

// A child's pid is ours until it is reaped here, so the signal cannot hit anybody else.
bool reap_by(pid_t child, Clock::time_point until) {
  const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  if (descriptor < 0) return false;
  pollfd ended{descriptor, POLLIN, 0};
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
  const int ready = ::poll(&ended, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
  ::close(descriptor);
  return ready == 1 && ::waitpid(child, nullptr, WNOHANG) == child;
}

}  // namespace

DescendantsEnded end_descendants(std::chrono::milliseconds deadline) {
  const auto until = Clock::now() + deadline;
  DescendantsEnded ended;
  while (has_children()) {
    for (const pid_t child : own_children()) {
      if (::waitpid(child, nullptr, WNOHANG) == child) continue;  // it had ended by itself
      ::kill(child, SIGKILL);
      ++ended.num_killed;
      if (!reap_by(child, until)) {
        ended.all_gone = false;
        return ended;
      }
    }
    if (Clock::now() >= until) {
      ended.all_gone = !has_children();
      return ended;
    }
  }
  return ended;
}

}  // namespace rematch::launch
