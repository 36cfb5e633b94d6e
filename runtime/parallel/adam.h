// One Adam step (AdamW: decoupled decay) over pieces of parameters in whatever types they are held. The arithmetic is fp32 throughout.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/parallel/optimizer_state.h"
#include "schemas/protocol/trial.h"

namespace rematch::parallel {

struct AdamStep {
  const protocol::OptimizerSpec& spec;
  const StateLayout& layout;
  std::int64_t number = 0;  // 1-based
};

// `group` is one of Megatron's parameter groups: all its pieces decay or none does. With mixed moments fp32 copies of the bf16 ones live
// until the whole group is done. Wants moments.
void adam_update(const AdamStep& step, const std::vector<PieceState*>& group);

}  // namespace rematch::parallel
