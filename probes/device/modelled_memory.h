// The part that the modelled cpu and meta devices share: a CachingAllocatorModel behind a lock, its statistics, and LibTorch's own
// out-of-memory error. Private to probes/device.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "probes/allocator/allocation_trace.h"
#include "probes/allocator/caching_allocator_model.h"
#include "probes/allocator/live_bytes.h"
#include "probes/device/device_memory.h"

namespace rematch::probes {

// Kept with each block's memory.
struct ChargedBlock {
  BlockId id = BlockId::kNone;
  TaggedBytes tagged;
};

class ModelledMemory {
 public:
  explicit ModelledMemory(const AllocatorOptions& options);
  // Under the tag that is open on this thread. Throws c10::OutOfMemoryError with the fields of CUDA's message.
  ChargedBlock charge(std::int64_t bytes);
  void discharge(const ChargedBlock& block);
  void retag(ChargedBlock& block, TagId tag);
  // A request that a device which this model follows has refused; it is in the trace and nowhere else.
  void note_refused(std::int64_t bytes);

  MemorySnapshot snapshot() const;
  void reset_peaks();
  protocol::Attribution attribution() const;  // now
  protocol::Attribution peak_attribution() const;
  std::optional<OomEvidence> last_oom() const;
  // Blocks that were charged before are not in the trace, so their frees must not come after.
  void record_allocations(std::unique_ptr<AllocationTraceWriter> trace);
  void end_recording();  // as DeviceMemory's

 private:
  void trace(const TraceEvent& event);

  mutable std::mutex mutex_;
  std::optional<std::int64_t> capacity_bytes_;
  CachingAllocatorModel model_;
  LiveBytes live_;
  std::unique_ptr<AllocationTraceWriter> trace_;  // null: nobody wants it
  std::optional<OomEvidence> last_oom_;
};

// DeviceMemory of a device whose allocator is `ModelledMemory`.
std::unique_ptr<DeviceMemory> make_modelled_device_memory(ModelledMemory& memory, protocol::Provenance provenance, std::string device_name);

}  // namespace rematch::probes
