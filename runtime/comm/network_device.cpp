#include "runtime/comm/network_device.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>

#include "runtime/base/errors.h"

namespace rematch::comm {

namespace {

constexpr const char* kAdvice = "; check MASTER_ADDR, or name the network device in GLOO_SOCKET_IFNAME";

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses resolve(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (const int status = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found); status != 0)
    throw base::CommError("MASTER_ADDR '" + host + "' cannot be resolved: " + ::gai_strerror(status) + kAdvice);
  return {found, &::freeaddrinfo};
}

std::string numeric(const sockaddr_storage& address, socklen_t length) {
  std::array<char, NI_MAXHOST> text{};
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  const int status = ::getnameinfo(generic, length, text.data(), static_cast<socklen_t>(text.size()), nullptr, 0, NI_NUMERICHOST);
  return status == 0 ? text.data() : "";
}

// Connecting a datagram socket sends nothing: it only picks the route. Empty: no route.
std::string source_address(const addrinfo& target) {
  const int descriptor = ::socket(target.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return "";
  sockaddr_storage local{};
  socklen_t length = sizeof(local);
  const bool routed = ::connect(descriptor, target.ai_addr, target.ai_addrlen) == 0 &&
                      ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&local), &length) == 0;
  ::close(descriptor);
  return routed ? numeric(local, length) : "";
}

bool is_loopback(const std::string& address) { return address.rfind("127.", 0) == 0 || address == "::1"; }

}  // namespace

NetworkDevice network_device_towards(const std::string& master, int port, Span span) {
  if (const char* named = std::getenv("GLOO_SOCKET_IFNAME"); named != nullptr && *named != '\0') return {.interface = named};
  const auto targets = resolve(master, port);
  for (const addrinfo* target = targets.get(); target != nullptr; target = target->ai_next) {
    const auto address = source_address(*target);
    if (address.empty()) continue;
    if (span == Span::kSeveralHosts && is_loopback(address))
      throw base::CommError("MASTER_ADDR '" + master + "' is reached from " + address + " on this host, which no other host can reach" +
                            kAdvice);
    return {.address = address};
  }
  throw base::CommError("no route from this host to MASTER_ADDR '" + master + "'" + kAdvice);
}

}  // namespace rematch::comm
