// The modelled device on the CPU: real memory from the heap, every charged block also placed by the CachingAllocatorModel.
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <malloc.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>

#include "probes/device/charge.h"
#include "probes/device/modelled_memory.h"
#include "probes/device/retag.h"
#include "probes/host/host_identity.h"

namespace rematch::probes {

namespace {

constexpr std::size_t kAlignment = 64;

// In front of every block, since LibTorch wants the context of a CPU pointer to be the pointer itself.
struct alignas(kAlignment) BlockHeader {
  std::optional<ChargedBlock> charged;
};
static_assert(sizeof(BlockHeader) == kAlignment);

// Never destroyed: tensors may outlive main.
ModelledMemory* cpu_memory = nullptr;

BlockHeader* header_of(void* data) { return static_cast<BlockHeader*>(data) - 1; }

void free_block(void* data) {
  if (data == nullptr) return;
  BlockHeader* header = header_of(data);
  if (header->charged) cpu_memory->discharge(*header->charged);
  header->~BlockHeader();
  std::free(header);
}

// null for memory that is not charged
ChargedBlock* charged_block(const c10::DataPtr& data) {
  void* memory = data.cast_context<void>(&free_block);
  if (memory == nullptr || !header_of(memory)->charged) return nullptr;
  return &*header_of(memory)->charged;
}

void retag_block(const c10::DataPtr& data, TagId tag) {
  if (auto* block = charged_block(data)) cpu_memory->retag(*block, tag);
}

std::optional<TagId> block_tag(const c10::DataPtr& data) {
  const auto* block = charged_block(data);
  return block ? std::optional(block->tagged.tag) : std::nullopt;
}

class ModelledCpuAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t num_bytes) override {
    const c10::Device cpu(c10::DeviceType::CPU);
    if (num_bytes == 0) return {nullptr, nullptr, &free_block, cpu};
    std::optional<ChargedBlock> block;
    if (charging()) block = cpu_memory->charge(static_cast<std::int64_t>(num_bytes));
    const std::size_t rounded = (num_bytes + kAlignment - 1) / kAlignment * kAlignment;
    void* memory = std::aligned_alloc(kAlignment, sizeof(BlockHeader) + rounded);
    if (memory == nullptr) {
      if (block) cpu_memory->discharge(*block);
      throw std::bad_alloc();
    }
    auto* header = new (memory) BlockHeader{block};
    void* data = header + 1;
    return {data, data, &free_block, cpu};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }

  void copy_data(void* destination, const void* source, std::size_t num_bytes) const override {
    std::memcpy(destination, source, num_bytes);
  }
};

}  // namespace

std::unique_ptr<DeviceMemory> make_modelled_cpu_memory(const AllocatorOptions& options) {
  static ModelledCpuAllocator allocator;
  // Blocks of a step come and go by the megabyte: keep them in the heap rather than mapping and zeroing pages each time.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  cpu_memory = new ModelledMemory(options);
  c10::SetCPUAllocator(&allocator, /*priority=*/100);
  set_tag_access({&retag_block, &block_tag});
  return make_modelled_device_memory(*cpu_memory, protocol::Provenance::kModelledDevice, "modelled device on " + cpu_model_name());
}

}  // namespace rematch::probes
