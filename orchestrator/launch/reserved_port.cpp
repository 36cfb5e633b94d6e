#include "orchestrator/launch/reserved_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace rematch::launch {

base::Result<ReservedPort> ReservedPort::take(PortReach reach) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ReservedPort port(descriptor, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  const char* bound_address = reach == PortReach::kThisHost ? kLoopback : "0.0.0.0";
  ::inet_pton(AF_INET, bound_address, &address.sin_addr);
  auto* any = reinterpret_cast<sockaddr*>(&address);  // how the socket interface takes every address
  socklen_t length = sizeof address;
  const int on = 1;
  const bool bound = descriptor >= 0 && ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                     ::bind(descriptor, any, length) == 0 && ::getsockname(descriptor, any, &length) == 0;
  if (!bound)
    return base::Error{std::string("no free port on ") + bound_address + " for MASTER_PORT: " + std::generic_category().message(errno)};
  port.number_ = ntohs(address.sin_port);
  return port;
}

ReservedPort::ReservedPort(ReservedPort&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)), number_(other.number_) {}

ReservedPort::~ReservedPort() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace rematch::launch
