#include "schemas/protocol/communication.h"

namespace rematch::protocol {

std::string_view to_string(Pass pass) {
  switch (pass) {
    case Pass::kForward: return "forward";
    case Pass::kBackward: return "backward";
    case Pass::kReplay: return "replay";
    case Pass::kUpdate: return "update";
  }
  return "unknown";
}

std::string_view to_string(CommOperation operation) {
  switch (operation) {
    case CommOperation::kAllReduce: return "all_reduce";
    case CommOperation::kAllGather: return "all_gather";
    case CommOperation::kReduceScatter: return "reduce_scatter";
    case CommOperation::kAllToAll: return "all_to_all";
    case CommOperation::kSend: return "send";
    case CommOperation::kReceive: return "receive";
  }
  return "unknown";
}

}  // namespace rematch::protocol
