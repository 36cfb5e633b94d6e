#include "runtime/parallel/pipeline_schedule.h"

#include <algorithm>
#include <utility>

namespace rematch::parallel {

namespace {

// Forwards before the first backward, less the one that comes with it.
std::int64_t num_warmup(const ScheduleRequest& request) {
  const auto ranks_behind = request.pipeline_size - request.pipeline_rank - 1;
  const auto num_forwards = request.num_micro_batches * request.num_model_chunks;
  if (request.num_model_chunks == 1) return std::min(ranks_behind, num_forwards);
  return std::min(2 * ranks_behind + (request.num_model_chunks - 1) * request.pipeline_size, num_forwards);
}

// Micro-batch and chunk of each forward in turn: a group of micro-batches through one chunk after the other. Backwards take the chunks from
// the last one down.
std::vector<std::pair<std::int64_t, std::int64_t>> schedule_table(const ScheduleRequest& request) {
  std::vector<std::pair<std::int64_t, std::int64_t>> table;
  for (std::int64_t first = 0; first < request.num_micro_batches; first += request.pipeline_size) {
    const auto end = std::min(first + request.pipeline_size, request.num_micro_batches);
    for (std::int64_t chunk = 0; chunk < request.num_model_chunks; ++chunk)
      for (auto micro_batch = first; micro_batch < end; ++micro_batch) table.emplace_back(micro_batch, chunk);
  }
  return table;
}

}  // namespace

std::vector<ScheduleSlot> pipeline_schedule(const ScheduleRequest& request) {
  const auto table = schedule_table(request);
  std::vector<ScheduleSlot> slots;
  auto forward = table.begin();
  const auto take_forward = [&] {
    slots.push_back({Direction::kForward, forward->first, forward->second});
    ++forward;
  };
  for (std::int64_t i = 0; i < num_warmup(request); ++i) take_forward();
  for (const auto& [micro_batch, chunk] : table) {
    if (forward != table.end()) take_forward();
    slots.push_back({Direction::kBackward, micro_batch, request.num_model_chunks - 1 - chunk});
  }
  return slots;
}

}  // namespace rematch::parallel
