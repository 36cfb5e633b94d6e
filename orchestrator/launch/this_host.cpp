#include "orchestrator/launch/this_host.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace rematch::launch {

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

bool is_gone_from_this_host(std::int64_t pid) { return pid > 0 && ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH; }

}  // namespace rematch::launch
