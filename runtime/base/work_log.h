// What a step computes and moves, counted from shapes where its operations are called, so that it is the same on every device. One log a
// process; the pass is the one that is open. Threads: any.
#pragma once

#include <cstdint>
#include <vector>

#include "schemas/protocol/work.h"

namespace rematch::base {

// Each is one launch. reports/METRICS.md, "Work", says which bytes.
void count_matmul(std::int64_t flops, std::int64_t bytes);
void count_kernel(std::int64_t bytes);

// What was counted since the last call, by pass; a pass without a launch is left out.
std::vector<protocol::WorkCount> take_work();

}  // namespace rematch::base
