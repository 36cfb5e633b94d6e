// What an allocation trace comes to under the CachingAllocatorModel with other segments or another capacity. Called by
// `rematch-train --replay-trace`. Failure: as read_allocation_trace; running out of memory is a result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "probes/allocator/caching_allocator_model.h"

namespace rematch::probes {

// The allocator when its reserved bytes first were as many as ever: what it held beside live blocks although it had to ask the device.
struct Fragmentation {
  std::int64_t reserved_less_allocated_bytes = 0;
  std::int64_t largest_free_block_bytes = 0;  // 0: nothing was cached
};

struct TraceReplay {
  AllocatorOptions options;
  std::int64_t num_events = 0;  // replayed: after a request that failed nothing is
  AllocatorStats stats;         // peaks are those of the whole replay
  Fragmentation fragmentation;
  std::optional<OutOfModelledMemory> out_of_memory;  // in the last event that was replayed
};

// A request that was refused when the trace was recorded is tried too; where it fits its block is freed at once.
TraceReplay replay_trace(const std::string& path, const AllocatorOptions& options);

// The document `rematch/trace-replay/1`, indented.
std::string replay_document(const TraceReplay& replay);

}  // namespace rematch::probes
