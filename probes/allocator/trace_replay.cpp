#include "probes/allocator/trace_replay.h"

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "probes/allocator/allocation_trace.h"

namespace rematch::probes {

namespace {

class Replayer {
 public:
  explicit Replayer(const AllocatorOptions& options) : model_(options) { replay_.options = options; }

  void follow(const TraceEvent& event) {
    if (replay_.out_of_memory) return;
    ++replay_.num_events;
    switch (event.kind) {
      case TraceEvent::Kind::kAllocate: blocks_[event.block] = allocate(event.bytes); return;
      case TraceEvent::Kind::kRefused: model_.free(allocate(event.bytes)); return;
      case TraceEvent::Kind::kFree: {
        const auto block = blocks_.find(event.block);
        model_.free(block->second);
        blocks_.erase(block);
        return;
      }
    }
  }

  TraceReplay result() {
    replay_.stats = model_.stats();
    return replay_;
  }

 private:
  BlockId allocate(std::int64_t bytes) {
    try {
      const BlockId block = model_.allocate(bytes);
      note_fragmentation();
      return block;
    } catch (const OutOfModelledMemory& error) {
      replay_.out_of_memory = error;
      return BlockId::kNone;
    }
  }

  void note_fragmentation() {
    const AllocatorStats& stats = model_.stats();
    if (stats.reserved_bytes.current <= highest_reserved_bytes_) return;
    highest_reserved_bytes_ = stats.reserved_bytes.current;
    replay_.fragmentation = {stats.reserved_bytes.current - stats.allocated_bytes.current, model_.largest_free_block_bytes()};
  }

  CachingAllocatorModel model_;
  std::unordered_map<std::int64_t, BlockId> blocks_;
  std::int64_t highest_reserved_bytes_ = 0;
  TraceReplay replay_;
};

nlohmann::json out_of_memory_document(const std::optional<OutOfModelledMemory>& error) {
  if (!error) return nullptr;
  return {{"requested_bytes", error->requested_bytes},
          {"allocated_bytes", error->allocated_bytes},
          {"reserved_bytes", error->reserved_bytes},
          {"largest_free_block_bytes", error->largest_free_block_bytes}};
}

}  // namespace

TraceReplay replay_trace(const std::string& path, const AllocatorOptions& options) {
  Replayer replayer(options);
  read_allocation_trace(path, [&](const TraceEvent& event) { replayer.follow(event); });
  return replayer.result();
}

std::string replay_document(const TraceReplay& replay) {
  const AllocatorStats& stats = replay.stats;
  const bool expandable = replay.options.segments == SegmentKind::kExpandable;
  nlohmann::json document = {{"schema", "rematch/trace-replay/1"},
                             {"segments", expandable ? "expandable" : "fixed"},
                             {"capacity_bytes", nullptr},
                             {"num_events", replay.num_events},
                             {"peak_allocated_bytes", stats.allocated_bytes.lifetime_peak},
                             {"peak_requested_bytes", stats.requested_bytes.lifetime_peak},
                             {"peak_reserved_bytes", stats.reserved_bytes.lifetime_peak},
                             {"end_allocated_bytes", stats.allocated_bytes.current},
                             {"end_reserved_bytes", stats.reserved_bytes.current},
                             {"peak_num_segments", nullptr},
                             {"num_device_alloc", stats.num_device_alloc},
                             {"num_device_free", stats.num_device_free},
                             {"num_alloc_retries", stats.num_alloc_retries},
                             {"fragmentation",
                              {{"reserved_less_allocated_bytes", replay.fragmentation.reserved_less_allocated_bytes},
                               {"largest_free_block_bytes", replay.fragmentation.largest_free_block_bytes}}},
                             {"out_of_memory", out_of_memory_document(replay.out_of_memory)}};
  if (replay.options.capacity_bytes) document["capacity_bytes"] = *replay.options.capacity_bytes;
  if (!expandable) document["peak_num_segments"] = stats.segment.lifetime_peak;
  return document.dump(2);
}

}  // namespace rematch::probes
