// A model of PyTorch's CUDA caching allocator with its default settings: the same rounding, pools, splitting, merging, release and retry,
// on virtual addresses. It owns no memory: an adaptor pairs each block with real bytes (cpu) or with none (meta).
// Threads: one at a time; the caller locks. Failure: OutOfModelledMemory when a request does not fit under the capacity, after which the
// model is usable as before; std::logic_error for a block that is not allocated.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>

#include "probes/allocator/allocator_stats.h"
#include "probes/allocator/block_map.h"

namespace rematch::probes {

enum class SegmentKind {
  kFixed,       // each segment is taken and given back whole
  kExpandable,  // expandable_segments:True: memory is mapped into one address range a pool
};

struct AllocatorOptions {
  std::optional<std::int64_t> capacity_bytes;  // null: no limit
  SegmentKind segments = SegmentKind::kFixed;
};

// The virtual address of an allocated block. kNone is the block of no bytes, PyTorch's null pointer.
enum class BlockId : std::int64_t { kNone = 0 };

struct OutOfModelledMemory : std::runtime_error {
  using std::runtime_error::runtime_error;
  std::int64_t requested_bytes = 0;  // as asked for
  std::int64_t segment_bytes = 0;    // what the device was asked for; PyTorch's message names this one
  std::int64_t allocated_bytes = 0;
  std::int64_t reserved_bytes = 0;
  std::optional<std::int64_t> capacity_bytes;
  std::int64_t largest_free_block_bytes = 0;
  std::int64_t num_alloc_retries = 0;
};

class CachingAllocatorModel {
 public:
  explicit CachingAllocatorModel(AllocatorOptions options = {}) : options_(options) {}

  BlockId allocate(std::int64_t bytes);
  void free(BlockId block);
  std::int64_t block_bytes(BlockId block) const;  // as allocated_bytes counts it
  void empty_cache();                             // gives back every unused segment

  const AllocatorOptions& options() const { return options_; }
  const AllocatorStats& stats() const { return stats_; }
  void reset_peaks();
  std::int64_t largest_free_block_bytes() const;  // cached and unused; 0 when nothing is
  const BlockMap::Blocks& blocks() const { return map_.blocks(); }

 private:
  struct Request {
    std::int64_t requested_bytes;
    std::int64_t bytes;          // rounded
    std::int64_t segment_bytes;  // of a new fixed segment
    Pool pool;
  };
  using Found = std::optional<BlockMap::Position>;

  Found find_free(const Request& request);
  Found take_from_device(const Request& request);
  Found take_segment(const Request& request);
  Found expand_segment(const Request& request);
  BlockMap::Position find_expandable(const Request& request);
  Found map_memory(BlockMap::Position unmapped, std::int64_t bytes);
  void unmap_memory(BlockMap::Position free_block);
  void release_unused(Pool pool);
  bool fits_device(std::int64_t bytes) const;
  std::int64_t address_space_bytes() const;
  std::int64_t room_to_grow_bytes(BlockMap::Position block);
  bool should_split(const Request& request, std::int64_t block_bytes) const;
  BlockId hand_out(BlockMap::Position block, const Request& request);
  [[noreturn]] void fail(const Request& request);

  AllocatorOptions options_;
  AllocatorStats stats_;
  BlockMap map_;
};

}  // namespace rematch::probes
