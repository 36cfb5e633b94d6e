// One controller a workspace: a flock on <workspace>/lock, with who holds it written inside. The kernel drops it with the process.
// Called by the engine before it writes anything, and by `status`, which only looks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "orchestrator/base/result.h"

namespace rematch::engine {

struct WorkspaceHolder {
  std::int64_t pid = 0;
  std::string host;
  std::string study;  // its folder's name
};

class WorkspaceLock {
 public:
  // Creates the workspace when there is none. The error names the process that holds it.
  static base::Result<WorkspaceLock> take(const std::filesystem::path& workspace, const std::string& study);
  // Who works here now; nullopt when nobody does.
  static std::optional<WorkspaceHolder> holder(const std::filesystem::path& workspace);

  WorkspaceLock(WorkspaceLock&& other) noexcept;
  WorkspaceLock& operator=(WorkspaceLock&&) = delete;
  ~WorkspaceLock();

 private:
  explicit WorkspaceLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace rematch::engine
