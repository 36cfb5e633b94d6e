// A CUDA device: statistics from LibTorch's own caching allocator. It does not say how large it made a block, so what live memory is for
// comes from a ModelledMemory that follows the allocator's trace; where the two disagree on the bytes, nothing is said.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

#include "probes/allocator/allocation_trace.h"
#include "probes/device/device_memory.h"
#include "probes/device/modelled_memory.h"
#include "probes/device/retag.h"
#include "probes/host/gpu_links.h"
#include "probes/host/recorded_environment.h"
#include "schemas/protocol/record_file.h"

namespace rematch::probes {

namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;
constexpr auto kAggregate = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);

// Beside what the user has set. Before the allocator reads it, and before there are threads.
void set_segments(SegmentKind segments) {
  const bool expandable = segments == SegmentKind::kExpandable;
  const std::string found = allocator_settings().value_or("");
  const bool says_so = found.find("expandable_segments:True") != std::string::npos;
  if (found.find("expandable_segments") != std::string::npos && says_so != expandable)
    throw std::runtime_error(std::string("backend.expandable_segments is ") + (expandable ? "true" : "false") +
                             ", and the environment's allocator settings say '" + found +
                             "'. Take expandable_segments out of the environment: the sweep sets it");
  if (!expandable || says_so) return;
  const std::string wanted = (found.empty() ? "" : found + ",") + "expandable_segments:True";
  ::setenv("PYTORCH_CUDA_ALLOC_CONF", wanted.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
}

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    text += (i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + std::string(digits);
  }
  return text;
}

// Of the kernel module: "... Kernel Module  580.95.05  Tue ...".
std::optional<std::string> driver_version() {
  std::istringstream words(protocol::read_whole_file("/proc/driver/nvidia/version").value_or(""));
  for (std::string word; words >> word;)
    if (word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos) return word;
  return std::nullopt;
}

std::optional<std::string> cuda_version() {
  int version = 0;
  if (cudaRuntimeGetVersion(&version) != cudaSuccess) return std::nullopt;
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string pci_bus_id(const cudaDeviceProp& properties) {
  char text[32];
  std::snprintf(text, sizeof text, "%08x:%02x:%02x.0", static_cast<unsigned>(properties.pciDomainID),
                static_cast<unsigned>(properties.pciBusID), static_cast<unsigned>(properties.pciDeviceID));
  return text;
}

// The trace comes under the allocator's lock, so nothing here may call the allocator while it holds a lock of its own.
class TracedMemory {
 public:
  void follow(const c10::CachingDeviceAllocator::TraceEntry& entry) {
    using c10::CachingDeviceAllocator::TraceEntry;
    const std::lock_guard lock(mutex_);
    if (entry.action_ == TraceEntry::ALLOC) {
      blocks_[entry.addr_] = model_.charge(static_cast<std::int64_t>(entry.size_));
    } else if (const auto block = blocks_.find(entry.addr_); entry.action_ == TraceEntry::FREE_REQUESTED && block != blocks_.end()) {
      model_.discharge(block->second);
      blocks_.erase(block);
    } else if (entry.action_ == TraceEntry::OOM) {
      model_.note_refused(static_cast<std::int64_t>(entry.size_));
    }
  }

  void retag(std::size_t address, TagId tag) {
    const std::lock_guard lock(mutex_);
    if (const auto block = blocks_.find(address); block != blocks_.end()) model_.retag(block->second, tag);
  }

  std::optional<TagId> tag(std::size_t address) {
    const std::lock_guard lock(mutex_);
    const auto block = blocks_.find(address);
    return block == blocks_.end() ? std::nullopt : std::optional(block->second.tagged.tag);
  }

  void reset_peaks() { model_.reset_peaks(); }
  void record_allocations(std::unique_ptr<AllocationTraceWriter> trace) { model_.record_allocations(std::move(trace)); }
  void end_recording() { model_.end_recording(); }
  std::optional<protocol::Attribution> attribution(std::int64_t allocated_bytes) const {
    return checked(model_.attribution(), allocated_bytes);
  }
  std::optional<protocol::Attribution> peak_attribution(std::int64_t peak_allocated_bytes) const {
    return checked(model_.peak_attribution(), peak_allocated_bytes);
  }

 private:
  static std::optional<protocol::Attribution> checked(protocol::Attribution modelled, std::int64_t wanted_bytes) {
    if (protocol::total_bytes(modelled) != wanted_bytes) return std::nullopt;
    return modelled;
  }

  std::mutex mutex_;
  ModelledMemory model_{AllocatorOptions{}};
  std::unordered_map<std::size_t, ChargedBlock> blocks_;  // by address
};

// Never destroyed: the allocator's trace may come until the process ends.
TracedMemory& traced_memory() {
  static auto& traced = *new TracedMemory;
  return traced;
}

class CudaMemory final : public DeviceMemory {
 public:
  CudaMemory(int index, std::optional<std::int64_t> capacity_bytes) : index_(static_cast<c10::DeviceIndex>(index)) {
    if (index >= c10::cuda::device_count())
      throw std::runtime_error("wanted CUDA device " + std::to_string(index) + ", found " + std::to_string(c10::cuda::device_count()) +
                               " visible; see CUDA_VISIBLE_DEVICES");
    c10::cuda::set_device(index_);
    if (cudaGetDeviceProperties(&properties_, index) != cudaSuccess) throw std::runtime_error("cudaGetDeviceProperties failed");
    allocator::init(c10::cuda::device_count());
    capacity_bytes_ = capacity_bytes.value_or(static_cast<std::int64_t>(properties_.totalGlobalMem));
    if (capacity_bytes)
      allocator::setMemoryFraction(static_cast<double>(*capacity_bytes) / static_cast<double>(properties_.totalGlobalMem), index_);
    allocator::attachOutOfMemoryObserver(
        [this](std::int64_t, std::size_t requested, std::size_t, std::size_t) { note_oom(static_cast<std::int64_t>(requested)); });
    allocator::attachAllocatorTraceTracker([index](const c10::CachingDeviceAllocator::TraceEntry& entry) {
      if (entry.device_ == index) traced_memory().follow(entry);
    });
    set_tag_access({[](const c10::DataPtr& data, TagId tag) { traced_memory().retag(reinterpret_cast<std::size_t>(data.get()), tag); },
                    [](const c10::DataPtr& data) { return traced_memory().tag(reinterpret_cast<std::size_t>(data.get())); }});
  }

  MemorySnapshot snapshot() const override {
    const auto stats = allocator::getDeviceStats(index_);
    const auto& allocated = stats.allocated_bytes[kAggregate];
    const auto& reserved = stats.reserved_bytes[kAggregate];
    return {.allocated_bytes = allocated.current,
            .reserved_bytes = reserved.current,
            .requested_bytes = stats.requested_bytes[kAggregate].current,
            .peak_allocated_bytes = allocated.peak,
            .peak_reserved_bytes = reserved.peak,
            .lifetime_peak_allocated_bytes = std::max(lifetime_allocated_bytes_, allocated.peak),
            .lifetime_peak_reserved_bytes = std::max(lifetime_reserved_bytes_, reserved.peak),
            .num_alloc_retries = stats.num_alloc_retries,
            .largest_free_block_bytes = largest_cached_block_bytes()};
  }

  void reset_peaks() override {
    const MemorySnapshot now = snapshot();
    lifetime_allocated_bytes_ = now.lifetime_peak_allocated_bytes;
    lifetime_reserved_bytes_ = now.lifetime_peak_reserved_bytes;
    allocator::resetPeakStats(index_);
    traced_memory().reset_peaks();
  }

  std::optional<protocol::Attribution> peak_attribution() const override {
    return traced_memory().peak_attribution(snapshot().peak_allocated_bytes);
  }

  std::optional<OomEvidence> last_oom() const override { return last_oom_; }
  void record_allocations(std::unique_ptr<AllocationTraceWriter> trace) override { traced_memory().record_allocations(std::move(trace)); }
  void end_recording() override { traced_memory().end_recording(); }
  void synchronize() const override { c10::cuda::device_synchronize(); }
  std::string device_name() const override { return properties_.name; }
  protocol::Provenance provenance() const override { return protocol::Provenance::kMeasured; }
  protocol::MachineSetting machine_setting() const override {
    protocol::MachineSetting machine = machine_without_device();
    machine.num_devices = c10::cuda::device_count();
    machine.device_id = uuid_text(properties_.uuid);
    machine.driver_version = driver_version();
    machine.cuda_version = cuda_version();
    machine.link_types = gpu_link_types(pci_bus_id(properties_));
    return machine;
  }

 private:
  void note_oom(std::int64_t requested_bytes) {
    const MemorySnapshot now = snapshot();
    last_oom_ = OomEvidence{.requested_bytes = requested_bytes,
                            .allocated_bytes = now.allocated_bytes,
                            .reserved_bytes = now.reserved_bytes,
                            .capacity_bytes = capacity_bytes_,
                            .largest_free_block_bytes = now.largest_free_block_bytes,
                            .num_alloc_retries = now.num_alloc_retries,
                            .attribution = traced_memory().attribution(now.allocated_bytes)};
  }

  std::int64_t largest_cached_block_bytes() const {
    std::size_t largest_bytes = 1;  // 0 would ask for the device's free memory instead
    allocator::get()->cacheInfo(index_, &largest_bytes);
    return largest_bytes > 1 ? static_cast<std::int64_t>(largest_bytes) : 0;
  }

  c10::DeviceIndex index_;
  cudaDeviceProp properties_{};
  std::int64_t capacity_bytes_ = 0;
  std::int64_t lifetime_allocated_bytes_ = 0;
  std::int64_t lifetime_reserved_bytes_ = 0;
  std::optional<OomEvidence> last_oom_;
};

}  // namespace

std::unique_ptr<DeviceMemory> make_cuda_memory(int index, const AllocatorOptions& options) {
  set_segments(options.segments);
  return std::make_unique<CudaMemory>(index, options.capacity_bytes);
}

bool built_with_cuda() { return true; }

}  // namespace rematch::probes
