// One controller a workspace: a lock on <workspace>/lock, with who holds it written inside, see launch::FileLock.
// Called by the engine before it writes anything, and by `status` and `doctor`, which only look: a look takes no lock, so it keeps nobody
// out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "orchestrator/base/result.h"
#include "orchestrator/launch/file_lock.h"

namespace rematch::engine {

struct WorkspaceHolder {
  std::int64_t pid = 0;
  std::string host;
  std::string study;                          // its folder's name, or what is done there
  std::optional<std::int64_t> start_unix_ns;  // when it took the lock
};

// "process 17 on node-a (study first-12ab, since 2026-01-31 09:30:00 UTC)"
std::string to_string(const WorkspaceHolder& holder);

class WorkspaceLock {
 public:
  // Creates the workspace when there is none. The error names the process that holds it, or says why nothing can be written.
  static base::Result<WorkspaceLock> take(const std::filesystem::path& workspace, const std::string& study);
  // Who works here now; nullopt when nobody does. Of a holder that has not written itself yet nothing but that it is there.
  static std::optional<WorkspaceHolder> holder(const std::filesystem::path& workspace);

 private:
  explicit WorkspaceLock(launch::FileLock file) : file_(std::move(file)) {}
  launch::FileLock file_;
};

}  // namespace rematch::engine
