// Which of this host's network devices a rank's peers reach it by. Asks the kernel's routes; sends nothing.
// Failure: base::CommError that says what was tried and what to set.
#pragma once

#include <string>

namespace rematch::comm {

// Both empty: what the host's own name resolves to.
struct NetworkDevice {
  std::string interface;  // by name ("eth0"): goes before the address
  std::string address;    // numeric, of this host
};

enum class Span { kOneHost, kSeveralHosts };

// GLOO_SOCKET_IFNAME where it is set; else the local address from which `master` is reached. Over several hosts an address of the loopback
// device is refused: no other host reaches it.
NetworkDevice network_device_towards(const std::string& master, int port, Span span);

}  // namespace rematch::comm
