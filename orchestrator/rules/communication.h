// Rule: what a run communicated in a step is what its hot rank did in its last completed step. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "orchestrator/base/rows.h"
#include "schemas/protocol/communication.h"

namespace rematch::rules {

struct StepCommunication {
  std::int64_t rank = 0;
  std::int64_t step = 0;
  std::vector<protocol::CommCount> counts;  // as recorded; empty: no call
};

// nullopt: the hot rank completed no step.
std::optional<StepCommunication> step_communication(const base::AttemptRows& attempt);

// All counts of one pass together.
struct PassTotal {
  std::int64_t num_calls = 0;
  std::int64_t bytes = 0;
};
PassTotal total_of(const StepCommunication& communication, protocol::Pass pass);

}  // namespace rematch::rules
