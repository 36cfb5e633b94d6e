// In which order a pipeline rank takes the micro-batches of a step through its model chunks: Megatron Core's 1F1B
// (forward_backward_pipelining_without_interleaving) and its interleaved form (get_schedule_table, groups of the pipeline size). Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace rematch::parallel {

enum class Direction { kForward, kBackward };

struct ScheduleSlot {
  Direction direction = Direction::kForward;
  std::int64_t micro_batch = 0;
  std::int64_t model_chunk = 0;  // of this rank
};

struct ScheduleRequest {
  std::int64_t pipeline_size = 1;
  std::int64_t pipeline_rank = 0;
  std::int64_t num_model_chunks = 1;  // a rank; more than one: num_micro_batches is a multiple of pipeline_size
  std::int64_t num_micro_batches = 1;
};

// Every micro-batch once forward and once backward through every chunk. One pipeline rank: forward and backward by turns.
std::vector<ScheduleSlot> pipeline_schedule(const ScheduleRequest& request);

}  // namespace rematch::parallel
