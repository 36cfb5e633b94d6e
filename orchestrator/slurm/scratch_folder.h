// A folder of this process on the node's own disk, gone with this object.
#pragma once

#include <filesystem>

namespace rematch::slurm {

class ScratchFolder {
 public:
  ScratchFolder();  // below SLURM_TMPDIR, TMPDIR or /tmp, the first that can be written; throws std::system_error
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace rematch::slurm
