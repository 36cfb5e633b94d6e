// distribute_saved_activations: of a checkpointed layer's input, each tensor-parallel rank keeps one slice of the flattened tensor, and
// gathers the whole before the replay (Megatron's split_tensor_into_1d_equal_chunks and gather_split_1d_tensor).
#pragma once

#include "runtime/comm/communicator.h"
#include "runtime/recompute/region.h"

namespace rematch::nn {

// The group outlives the result. The number of elements must be a multiple of the group's size: throws std::invalid_argument otherwise.
recompute::InputShard shard_over(const comm::Communicator& tensor_group);

}  // namespace rematch::nn
