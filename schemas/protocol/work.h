// What a rank computed in a step, counted from shapes, by pass: the input of a time estimate (reports/METRICS.md, "Work"). The same on
// every device. Pure values.
#pragma once

#include <cstdint>

#include "schemas/protocol/communication.h"

namespace rematch::protocol {

struct WorkCount {
  Pass pass = Pass::kForward;
  std::int64_t matmul_flops = 0;  // of matrix products, a multiply-add is two
  std::int64_t matmul_bytes = 0;  // their factors read and results written
  std::int64_t other_bytes = 0;   // moved by everything that is no matrix product
  std::int64_t num_kernels = 0;   // launches of either kind
};

}  // namespace rematch::protocol
