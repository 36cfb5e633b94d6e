#include "orchestrator/slurm/fresh_look.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "orchestrator/launch/this_host.h"

namespace rematch::slurm {

bool look_afresh(const std::filesystem::path& folder) {
  const auto path = folder / (".look-" + launch::host_name() + "-" + std::to_string(::getpid()));
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) return errno == ENOENT;  // nothing was seen of it, and it is not there
  ::close(descriptor);
  return ::unlink(path.c_str()) == 0;
}

}  // namespace rematch::slurm
