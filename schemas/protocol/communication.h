// What a rank communicated in a step: calls, bytes and time by axis, pass and operation. Pure values.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace rematch::protocol {

// What a step does when it communicates. A replay's nested backward is backward.
enum class Pass { kForward, kBackward, kReplay, kUpdate };
inline constexpr std::array<Pass, 4> kAllPasses = {Pass::kForward, Pass::kBackward, Pass::kReplay, Pass::kUpdate};

enum class CommOperation { kAllReduce, kAllGather, kReduceScatter, kAllToAll, kSend, kReceive };
inline constexpr std::array<CommOperation, 6> kAllCommOperations = {CommOperation::kAllReduce,     CommOperation::kAllGather,
                                                                    CommOperation::kReduceScatter, CommOperation::kAllToAll,
                                                                    CommOperation::kSend,          CommOperation::kReceive};

std::string_view to_string(Pass pass);
std::string_view to_string(CommOperation operation);

struct CommCount {
  std::string axis;  // axis_name of parallel_dims.h
  Pass pass = Pass::kForward;
  CommOperation operation = CommOperation::kAllReduce;
  std::int64_t num_calls = 0;
  std::int64_t bytes = 0;        // reports/METRICS.md, "Communication"
  std::int64_t duration_ns = 0;  // from call to end, waiting for peers included
};

}  // namespace rematch::protocol
