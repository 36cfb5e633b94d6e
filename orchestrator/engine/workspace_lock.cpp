#include "orchestrator/engine/workspace_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "schemas/protocol/record_file.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::engine {

namespace {

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::optional<WorkspaceHolder> read_holder(const std::filesystem::path& path) {
  const auto text = protocol::read_whole_file(path);
  const auto document = nlohmann::json::parse(text.value_or(""), nullptr, false);
  if (!document.is_object()) return std::nullopt;  // its holder has not written itself yet
  return WorkspaceHolder{document.value("pid", std::int64_t{0}), document.value("host", ""), document.value("study", "")};
}

std::string last_error() { return std::generic_category().message(errno); }

void write_holder(int descriptor, const std::string& study) {
  const std::string text = nlohmann::json{{"pid", ::getpid()}, {"host", host_name()}, {"study", study}}.dump() + "\n";
  if (::ftruncate(descriptor, 0) != 0 || ::pwrite(descriptor, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    throw std::system_error(errno, std::generic_category(), "writing the workspace's lock file");
}

}  // namespace

base::Result<WorkspaceLock> WorkspaceLock::take(const std::filesystem::path& workspace, const std::string& study) {
  std::error_code error;
  std::filesystem::create_directories(workspace, error);
  if (error)
    return base::Error{"cannot create the workspace " + workspace.string() + ": " + error.message() + ". Choose another with --workspace"};
  const auto path = protocol::WorkspacePaths{workspace}.lock();
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) return base::Error{"cannot write in the workspace: " + path.string() + ": " + last_error()};
  WorkspaceLock lock(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
    write_holder(descriptor, study);
    return lock;
  }
  if (errno != EWOULDBLOCK) return base::Error{"cannot lock " + path.string() + ": " + last_error()};
  const auto other = read_holder(path);
  const std::string who =
      other ? "process " + std::to_string(other->pid) + " on " + other->host + " (study " + other->study + ")" : "another process";
  return base::Error{"the workspace " + workspace.string() + " is in use by " + who +
                     ". Wait for it, stop it with SIGINT, or choose another with --workspace"};
}

std::optional<WorkspaceHolder> WorkspaceLock::holder(const std::filesystem::path& workspace) {
  const auto path = protocol::WorkspacePaths{workspace}.lock();
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  const WorkspaceLock looked_at(descriptor);
  if (::flock(descriptor, LOCK_SH | LOCK_NB) == 0) return std::nullopt;
  return read_holder(path);
}

WorkspaceLock::WorkspaceLock(WorkspaceLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

WorkspaceLock::~WorkspaceLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace rematch::engine
