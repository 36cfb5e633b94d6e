// Calls, bytes and time of all collectives of a rank, by axis, pass and operation. One a mesh; its communicators write it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "schemas/protocol/communication.h"

namespace rematch::comm {

class CommLog {
 public:
  // Of the pass that is open.
  void add(const std::string& axis, protocol::CommOperation operation, std::int64_t bytes, std::int64_t duration_ns);
  // What was added since the last call; sorted by axis, pass and operation.
  std::vector<protocol::CommCount> take();

 private:
  std::map<std::tuple<std::string, protocol::Pass, protocol::CommOperation>, protocol::CommCount> counts_;
};

}  // namespace rematch::comm
