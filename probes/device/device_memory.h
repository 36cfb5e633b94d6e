// The allocator statistics of the device a rank trains on, one interface for the modelled cpu, meta and cuda.
// One instance a process, made before the first tensor. Threads: any may allocate; snapshot and reset are the main thread's.
// Failure: an allocation over the capacity throws c10::OutOfMemoryError; last_oom() then has its evidence.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "probes/allocator/caching_allocator_model.h"
#include "schemas/protocol/attribution.h"
#include "schemas/protocol/outcome.h"
#include "schemas/protocol/rank_record.h"

namespace rematch::probes {

class AllocationTraceWriter;

struct MemorySnapshot {
  std::int64_t allocated_bytes = 0;
  std::int64_t reserved_bytes = 0;
  std::int64_t requested_bytes = 0;       // of what is allocated, as asked for
  std::int64_t peak_allocated_bytes = 0;  // since reset_peaks
  std::int64_t peak_reserved_bytes = 0;
  std::int64_t lifetime_peak_allocated_bytes = 0;  // never reset
  std::int64_t lifetime_peak_reserved_bytes = 0;
  std::int64_t num_alloc_retries = 0;
  std::int64_t largest_free_block_bytes = 0;
};

struct OomEvidence {
  std::int64_t requested_bytes = 0;
  std::int64_t allocated_bytes = 0;
  std::int64_t reserved_bytes = 0;
  std::optional<std::int64_t> capacity_bytes;
  std::int64_t largest_free_block_bytes = 0;
  std::int64_t num_alloc_retries = 0;
  std::optional<protocol::Attribution> attribution;  // adds up to allocated_bytes; null where the device cannot tell
};

// The part of a rank's machine that is no device: CPUs, allocator settings, recorded variables.
protocol::MachineSetting machine_without_device();

class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  virtual MemorySnapshot snapshot() const = 0;
  virtual void reset_peaks() = 0;
  // Live bytes at the peak since reset_peaks; adds up to peak_allocated_bytes. null where the device cannot tell.
  virtual std::optional<protocol::Attribution> peak_attribution() const = 0;
  virtual std::optional<OomEvidence> last_oom() const = 0;
  // Every allocation and free from here on goes to `trace`, as probes/allocator/allocation_trace.h says; call it before the first tensor.
  virtual void record_allocations(std::unique_ptr<AllocationTraceWriter> trace) = 0;
  // Closes that trace; does nothing where there is none. Throws std::system_error when it is not whole.
  virtual void end_recording() = 0;
  // Waits for all work queued on the device: call it before reading a clock.
  virtual void synchronize() const = 0;
  virtual std::string device_name() const = 0;
  virtual protocol::Provenance provenance() const = 0;
  virtual protocol::MachineSetting machine_setting() const = 0;
};

// Replaces LibTorch's CPU (or meta) allocator by a modelled one for the rest of the process.
std::unique_ptr<DeviceMemory> make_modelled_cpu_memory(const AllocatorOptions& options);
std::unique_ptr<DeviceMemory> make_modelled_meta_memory(const AllocatorOptions& options);
// Call it before anything of CUDA: expandable segments are set by the environment, which the allocator reads once.
// Throws std::runtime_error in a build without CUDA, where the environment says otherwise of expandable segments, or where no device
// `index` is visible.
std::unique_ptr<DeviceMemory> make_cuda_memory(int index, const AllocatorOptions& options);
bool built_with_cuda();

}  // namespace rematch::probes
