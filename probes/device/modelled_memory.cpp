#include "probes/device/modelled_memory.h"

#include <c10/util/Exception.h>

#include <string>
#include <utility>

#include "probes/host/host_identity.h"
#include "probes/host/recorded_environment.h"

namespace rematch::probes {

protocol::MachineSetting machine_without_device() {
  protocol::MachineSetting machine;
  machine.cpu_affinity = cpu_affinity();
  machine.allocator_settings = allocator_settings();
  machine.environment = recorded_environment();
  return machine;
}

ModelledMemory::ModelledMemory(const AllocatorOptions& options) : capacity_bytes_(options.capacity_bytes), model_(options) {}

ChargedBlock ModelledMemory::charge(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  try {
    const BlockId id = model_.allocate(bytes);
    const ChargedBlock block{id, live_.add(open_tag(), model_.block_bytes(id))};
    trace({TraceEvent::Kind::kAllocate, block.tagged.number, bytes});
    return block;
  } catch (const OutOfModelledMemory& oom) {
    last_oom_ = OomEvidence{.requested_bytes = oom.requested_bytes,
                            .allocated_bytes = oom.allocated_bytes,
                            .reserved_bytes = oom.reserved_bytes,
                            .capacity_bytes = oom.capacity_bytes,
                            .largest_free_block_bytes = oom.largest_free_block_bytes,
                            .num_alloc_retries = model_.stats().num_alloc_retries,
                            .attribution = live_.now()};
    trace({TraceEvent::Kind::kRefused, 0, bytes});
    C10_THROW_ERROR(OutOfMemoryError, "modelled allocator out of memory. Tried to allocate " + std::to_string(oom.requested_bytes) +
                                          " bytes. The device has a total capacity of " + std::to_string(capacity_bytes_.value_or(0)) +
                                          " bytes. Of the reserved memory " + std::to_string(oom.reserved_bytes) + " bytes, " +
                                          std::to_string(oom.allocated_bytes) + " bytes are allocated and " +
                                          std::to_string(oom.reserved_bytes - oom.allocated_bytes) + " bytes are cached and unused.");
  }
}

void ModelledMemory::discharge(const ChargedBlock& block) {
  const std::lock_guard lock(mutex_);
  model_.free(block.id);
  live_.remove(block.tagged);
  trace({TraceEvent::Kind::kFree, block.tagged.number, 0});
}

void ModelledMemory::note_refused(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  trace({TraceEvent::Kind::kRefused, 0, bytes});
}

void ModelledMemory::retag(ChargedBlock& block, TagId tag) {
  const std::lock_guard lock(mutex_);
  live_.retag(block.tagged, tag);
}

MemorySnapshot ModelledMemory::snapshot() const {
  const std::lock_guard lock(mutex_);
  const AllocatorStats& stats = model_.stats();
  return {.allocated_bytes = stats.allocated_bytes.current,
          .reserved_bytes = stats.reserved_bytes.current,
          .requested_bytes = stats.requested_bytes.current,
          .peak_allocated_bytes = stats.allocated_bytes.peak,
          .peak_reserved_bytes = stats.reserved_bytes.peak,
          .lifetime_peak_allocated_bytes = stats.allocated_bytes.lifetime_peak,
          .lifetime_peak_reserved_bytes = stats.reserved_bytes.lifetime_peak,
          .num_alloc_retries = stats.num_alloc_retries,
          .largest_free_block_bytes = model_.largest_free_block_bytes()};
}

void ModelledMemory::reset_peaks() {
  const std::lock_guard lock(mutex_);
  model_.reset_peaks();
  live_.reset_peak();
}

protocol::Attribution ModelledMemory::attribution() const {
  const std::lock_guard lock(mutex_);
  return live_.now();
}

protocol::Attribution ModelledMemory::peak_attribution() const {
  const std::lock_guard lock(mutex_);
  return live_.at_peak();
}

std::optional<OomEvidence> ModelledMemory::last_oom() const {
  const std::lock_guard lock(mutex_);
  return last_oom_;
}

void ModelledMemory::record_allocations(std::unique_ptr<AllocationTraceWriter> trace) {
  const std::lock_guard lock(mutex_);
  trace_ = std::move(trace);
}

void ModelledMemory::end_recording() {
  const std::lock_guard lock(mutex_);
  if (const auto trace = std::move(trace_)) trace->close();
}

void ModelledMemory::trace(const TraceEvent& event) {
  if (trace_) trace_->write(event);
}

namespace {

class ModelledDeviceMemory final : public DeviceMemory {
 public:
  ModelledDeviceMemory(ModelledMemory& memory, protocol::Provenance provenance, std::string device_name)
      : memory_(memory), provenance_(provenance), device_name_(std::move(device_name)) {}

  MemorySnapshot snapshot() const override { return memory_.snapshot(); }
  void reset_peaks() override { memory_.reset_peaks(); }
  std::optional<protocol::Attribution> peak_attribution() const override { return memory_.peak_attribution(); }
  std::optional<OomEvidence> last_oom() const override { return memory_.last_oom(); }
  void record_allocations(std::unique_ptr<AllocationTraceWriter> trace) override { memory_.record_allocations(std::move(trace)); }
  void end_recording() override { memory_.end_recording(); }
  void synchronize() const override {}
  std::string device_name() const override { return device_name_; }
  protocol::Provenance provenance() const override { return provenance_; }
  protocol::MachineSetting machine_setting() const override { return machine_without_device(); }

 private:
  ModelledMemory& memory_;
  protocol::Provenance provenance_;
  std::string device_name_;
};

}  // namespace

std::unique_ptr<DeviceMemory> make_modelled_device_memory(ModelledMemory& memory, protocol::Provenance provenance,
                                                          std::string device_name) {
  return std::make_unique<ModelledDeviceMemory>(memory, provenance, std::move(device_name));
}

}  // namespace rematch::probes
