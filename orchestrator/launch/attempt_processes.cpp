#include "orchestrator/launch/attempt_processes.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <thread>

namespace rematch::launch {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kMark = "REMATCH_ATTEMPT";

// The same folder by whatever way it is named.
std::string canonical_text(const fs::path& folder) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(folder, error);
  return error ? fs::absolute(folder).string() : real.string();
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// nullopt: no mark, or the process is gone, or another user's.
std::optional<std::string> mark_of(pid_t pid) {
  const std::string name = std::string(kMark) + "=";
  std::string environment(1, '\0');
  environment += text_of(fs::path("/proc") / std::to_string(pid) / "environ");
  const auto at = environment.find(std::string(1, '\0') + name);
  if (at == std::string::npos) return std::nullopt;
  const auto begin = at + 1 + name.size();
  return environment.substr(begin, environment.find('\0', begin) - begin);
}

bool is_at_or_below(const std::string& mark, const std::string& folder) {
  return mark == folder || (mark.size() > folder.size() && mark.compare(0, folder.size(), folder) == 0 && mark[folder.size()] == '/');
}

std::string command_of(pid_t pid) {
  std::string words = text_of(fs::path("/proc") / std::to_string(pid) / "cmdline");
  if (!words.empty() && words.back() == '\0') words.pop_back();
  std::replace(words.begin(), words.end(), '\0', ' ');
  return words;
}

// The descriptor is of one process for good: what is read between opening it and the signal is read of the process that is signalled.
void kill_marked(pid_t pid, const std::string& folder) {
  const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (descriptor < 0) return;  // it is gone
  const auto mark = mark_of(pid);
  if (mark && is_at_or_below(*mark, folder)) ::syscall(SYS_pidfd_send_signal, descriptor, SIGKILL, nullptr, 0);
  ::close(descriptor);
}

}  // namespace

std::map<std::string, std::string> attempt_mark(const fs::path& attempt_folder) { return {{kMark, canonical_text(attempt_folder)}}; }

std::vector<AttemptProcess> attempt_processes(const fs::path& folder) {
  const std::string root = canonical_text(folder);
  std::vector<AttemptProcess> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto pid = static_cast<pid_t>(std::stol(name));
    if (pid == ::getpid()) continue;
    const auto mark = mark_of(pid);
    if (mark && is_at_or_below(*mark, root)) found.push_back({pid, *mark, command_of(pid)});
  }
  std::sort(found.begin(), found.end(), [](const AttemptProcess& a, const AttemptProcess& b) { return a.pid < b.pid; });
  return found;
}

bool end_attempt_processes(const fs::path& attempt_folder, std::chrono::milliseconds deadline) {
  const auto until = Clock::now() + deadline;
  for (;;) {
    const auto left = attempt_processes(attempt_folder);
    if (left.empty()) return true;
    for (const AttemptProcess& process : left) kill_marked(process.pid, canonical_text(attempt_folder));
    if (Clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // a process that is no child of ours cannot be waited for
  }
}

}  // namespace rematch::launch
