#include "orchestrator/engine/workspace_lock.h"

#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "orchestrator/launch/this_host.h"
#include "schemas/protocol/record_file.h"
#include "schemas/protocol/trial_paths.h"
#include "schemas/protocol/write_boundary.h"

namespace rematch::engine {

namespace {

std::optional<WorkspaceHolder> read_holder(const std::filesystem::path& path) {
  const auto text = protocol::read_whole_file(path);
  const auto document = nlohmann::json::parse(text.value_or(""), nullptr, false);
  if (!document.is_object()) return std::nullopt;  // its holder has not written itself yet
  WorkspaceHolder holder{document.value("pid", std::int64_t{0}), document.value("host", ""), document.value("study", ""), std::nullopt};
  if (document.contains("start_unix_ns")) holder.start_unix_ns = document.value("start_unix_ns", std::int64_t{0});
  return holder;
}

bool is_gone(const WorkspaceHolder& holder) { return holder.host == launch::host_name() && launch::is_gone_from_this_host(holder.pid); }

// A process that its holder was just starting when it died has the lock for as long as it takes to become another program.
bool lock_after_a_dead_holder(launch::FileLock& lock, const std::filesystem::path& path) {
  constexpr std::chrono::milliseconds kDeadline{2'000};
  const auto until = std::chrono::steady_clock::now() + kDeadline;
  for (;;) {
    const auto holder = read_holder(path);
    if (!holder || !is_gone(*holder) || std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (lock.try_take() == launch::LockState::kOurs) return true;
  }
}

std::string error_text(const launch::FileLock& lock) { return std::generic_category().message(lock.error()); }

void write_holder(int descriptor, const std::string& study) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const nlohmann::json holder{{"pid", ::getpid()},
                              {"host", launch::host_name()},
                              {"study", study},
                              {"start_unix_ns", std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()}};
  const std::string text = holder.dump() + "\n";
  if (::ftruncate(descriptor, 0) != 0 || ::pwrite(descriptor, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    throw std::system_error(errno, std::generic_category(), "cannot write the workspace's lock file");
  protocol::pass_write_boundary("written", "lock");
}

std::string utc_text(std::int64_t unix_ns) {
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text.data();
}

}  // namespace

std::string to_string(const WorkspaceHolder& holder) {
  std::string text = "process " + std::to_string(holder.pid) + " on " + holder.host + " (study " + holder.study;
  if (holder.start_unix_ns) text += ", since " + utc_text(*holder.start_unix_ns);
  return text + ")";
}

base::Result<WorkspaceLock> WorkspaceLock::take(const std::filesystem::path& workspace, const std::string& study) {
  std::error_code error;
  std::filesystem::create_directories(workspace, error);
  if (error)
    return base::Error{"cannot create the workspace " + workspace.string() + ": " + error.message() + ". Choose another with --workspace"};
  const auto path = protocol::WorkspacePaths{workspace}.lock();
  WorkspaceLock lock(launch::FileLock::open(path));
  if (!lock.file_.is_open())
    return base::Error{"cannot write in the workspace: " + path.string() + ": " + error_text(lock.file_) +
                       ". Choose another with --workspace"};
  const launch::LockState state = lock.file_.try_take();
  if (state == launch::LockState::kUnknown) return base::Error{"cannot lock " + path.string() + ": " + error_text(lock.file_)};
  if (state == launch::LockState::kOurs || lock_after_a_dead_holder(lock.file_, path)) {
    write_holder(lock.file_.descriptor(), study);
    return lock;
  }
  const auto other = read_holder(path);
  return base::Error{"the workspace " + workspace.string() + " is in use by " + (other ? to_string(*other) : "another process") +
                     ". Wait for it, stop it with SIGINT, or choose another with --workspace"};
}

std::optional<WorkspaceHolder> WorkspaceLock::holder(const std::filesystem::path& workspace) {
  const auto path = protocol::WorkspacePaths{workspace}.lock();
  if (!launch::FileLock::open_to_look(path).is_another_s()) return std::nullopt;
  return read_holder(path).value_or(WorkspaceHolder{});
}

}  // namespace rematch::engine
