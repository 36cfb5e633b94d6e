#include "orchestrator/launch/control_channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace rematch::launch {

ControlChannel::ControlChannel() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair for a supervisor's control channel");
  near_ = ends[0];
  far_ = ends[1];
}

ControlChannel::~ControlChannel() {
  close_far();
  ::close(near_);
}

void ControlChannel::close_far() {
  if (far_ >= 0) ::close(far_);
  far_ = -1;
}

void ControlChannel::send(char command) const { static_cast<void>(::send(near_, &command, 1, MSG_NOSIGNAL | MSG_DONTWAIT)); }

}  // namespace rematch::launch
