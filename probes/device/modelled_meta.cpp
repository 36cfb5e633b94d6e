// The meta device: shapes only. Every charged storage is placed by the CachingAllocatorModel, none has memory.
#include <c10/core/Allocator.h>

#include <optional>

#include "probes/device/charge.h"
#include "probes/device/modelled_memory.h"
#include "probes/device/retag.h"

namespace rematch::probes {

namespace {

ModelledMemory* meta_memory = nullptr;

void free_meta_block(void* context) {
  auto* block = static_cast<ChargedBlock*>(context);
  meta_memory->discharge(*block);
  delete block;
}

void free_nothing(void*) {}

void retag_meta_block(const c10::DataPtr& data, TagId tag) {
  if (auto* block = data.cast_context<ChargedBlock>(&free_meta_block)) meta_memory->retag(*block, tag);
}

std::optional<TagId> meta_block_tag(const c10::DataPtr& data) {
  const auto* block = data.cast_context<ChargedBlock>(&free_meta_block);
  return block ? std::optional(block->tagged.tag) : std::nullopt;
}

class ModelledMetaAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t num_bytes) override {
    const c10::Device meta(c10::DeviceType::Meta);
    if (num_bytes == 0 || !charging()) return {nullptr, nullptr, &free_nothing, meta};
    auto* block = new ChargedBlock(meta_memory->charge(static_cast<std::int64_t>(num_bytes)));
    return {nullptr, block, &free_meta_block, meta};
  }

  void copy_data(void*, const void*, std::size_t) const override {}
};

}  // namespace

std::unique_ptr<DeviceMemory> make_modelled_meta_memory(const AllocatorOptions& options) {
  static ModelledMetaAllocator allocator;
  meta_memory = new ModelledMemory(options);
  c10::SetAllocator(c10::DeviceType::Meta, &allocator, /*priority=*/100);
  set_tag_access({&retag_meta_block, &meta_block_tag});
  return make_modelled_device_memory(*meta_memory, protocol::Provenance::kPredicted, "meta (shapes only)");
}

}  // namespace rematch::probes
