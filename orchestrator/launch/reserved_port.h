// A TCP port that the system gives to nobody else for as long as this lives: bound, never listened on. A server that sets SO_REUSEADDR, as
// c10d's store does, can bind and listen on it. One owner.
#pragma once

#include <cstdint>

#include "orchestrator/base/result.h"

namespace rematch::launch {

inline constexpr const char* kLoopback = "127.0.0.1";

enum class PortReach {
  kThisHost,  // on the loopback address
  kAllHosts,  // on every address of this host
};

class ReservedPort {
 public:
  // The error is the system's.
  static base::Result<ReservedPort> take(PortReach reach = PortReach::kThisHost);
  ReservedPort(ReservedPort&& other) noexcept;
  ReservedPort& operator=(ReservedPort&&) = delete;
  ~ReservedPort();
  std::uint16_t number() const { return number_; }

 private:
  ReservedPort(int descriptor, std::uint16_t number) : descriptor_(descriptor), number_(number) {}
  int descriptor_;
  std::uint16_t number_;
};

}  // namespace rematch::launch
