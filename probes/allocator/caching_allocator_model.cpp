#include "probes/allocator/caching_allocator_model.h"

#include <algorithm>
#include <string>
#include <vector>

namespace rematch::probes {

namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
// PyTorch's names without their k: c10/cuda/CUDACachingAllocator.cpp.
constexpr std::int64_t kMinBlockBytes = 512;
constexpr std::int64_t kMaxSmallBytes = kMiB;           // larger requests use the large pool
constexpr std::int64_t kSmallSegmentBytes = 2 * kMiB;   // of the small pool
constexpr std::int64_t kLargeSegmentBytes = 20 * kMiB;  // of the large pool, for requests under kMinOwnSegmentBytes
constexpr std::int64_t kMinOwnSegmentBytes = 10 * kMiB;
constexpr std::int64_t kOwnSegmentUnitBytes = 2 * kMiB;
// Beyond any device, and small enough that no sum of addresses overflows.
constexpr std::int64_t kMaxRequestBytes = std::int64_t{1} << 50;

std::int64_t round_up(std::int64_t bytes, std::int64_t unit) { return (bytes + unit - 1) / unit * unit; }
std::int64_t round_down(std::int64_t bytes, std::int64_t unit) { return bytes / unit * unit; }

std::int64_t segment_bytes_for(std::int64_t rounded_bytes) {
  if (rounded_bytes <= kMaxSmallBytes) return kSmallSegmentBytes;
  if (rounded_bytes < kMinOwnSegmentBytes) return kLargeSegmentBytes;
  return round_up(rounded_bytes, kOwnSegmentUnitBytes);
}

// Memory of an expandable segment is mapped in pieces of this size.
std::int64_t mapping_unit_bytes(Pool pool) { return pool == Pool::kSmall ? kSmallSegmentBytes : kLargeSegmentBytes; }

}  // namespace

BlockId CachingAllocatorModel::allocate(std::int64_t bytes) {
  if (bytes < 0) throw std::logic_error("allocate: wanted a size of 0 or more bytes, found " + std::to_string(bytes));
  if (bytes == 0) return BlockId::kNone;
  if (bytes > kMaxRequestBytes) fail({bytes, bytes, bytes, Pool::kLarge});
  const std::int64_t rounded_bytes = round_up(bytes, kMinBlockBytes);
  const Pool pool = rounded_bytes <= kMaxSmallBytes ? Pool::kSmall : Pool::kLarge;
  const Request request{bytes, rounded_bytes, segment_bytes_for(rounded_bytes), pool};
  Found block = find_free(request);
  if (!block) block = take_from_device(request);
  // PyTorch first releases oversize blocks one by one, but only where max_split_size is set; its default is no limit.
  if (!block) {
    empty_cache();
    ++stats_.num_alloc_retries;
    block = take_from_device(request);
  }
  if (!block) fail(request);
  return hand_out(*block, request);
}

void CachingAllocatorModel::free(BlockId id) {
  if (id == BlockId::kNone) return;
  const auto block = map_.at(static_cast<std::int64_t>(id));
  if (!map_.is_block(block) || block->second.state != BlockState::kAllocated)
    throw std::logic_error("free: wanted an allocated block, found address " + std::to_string(static_cast<std::int64_t>(id)));
  stats_.allocation.decrease(1);
  stats_.allocated_bytes.decrease(block->second.bytes);
  stats_.requested_bytes.decrease(block->second.requested_bytes);
  map_.set_state(block, BlockState::kFree);
  map_.merge_neighbours(block);
}

std::int64_t CachingAllocatorModel::block_bytes(BlockId id) const {
  return id == BlockId::kNone ? 0 : map_.blocks().at(static_cast<std::int64_t>(id)).bytes;
}

void CachingAllocatorModel::empty_cache() {
  release_unused(Pool::kLarge);
  release_unused(Pool::kSmall);
}

void CachingAllocatorModel::reset_peaks() {
  for (Stat* stat : {&stats_.allocation, &stats_.segment, &stats_.allocated_bytes, &stats_.reserved_bytes, &stats_.requested_bytes})
    stat->reset_peak();
}

std::int64_t CachingAllocatorModel::largest_free_block_bytes() const {
  std::int64_t largest = 0;
  for (const Pool pool : {Pool::kSmall, Pool::kLarge})
    if (const auto& free_blocks = map_.free_blocks(pool); !free_blocks.empty()) largest = std::max(largest, free_blocks.rbegin()->first);
  return largest;
}

// Best fit. At the growing end of an expandable segment a block counts as large as it may become, so that a snugger one further on is
// preferred to it.
CachingAllocatorModel::Found CachingAllocatorModel::find_free(const Request& request) {
  const auto& free_blocks = map_.free_blocks(request.pool);
  auto best = free_blocks.lower_bound({request.bytes, 0});
  if (best == free_blocks.end()) return std::nullopt;
  if (options_.segments == SegmentKind::kExpandable) {
    for (auto next = std::next(best); next != free_blocks.end(); best = next++)
      if (room_to_grow_bytes(map_.at(next->second)) >= room_to_grow_bytes(map_.at(best->second))) break;
  }
  return map_.at(best->second);
}

CachingAllocatorModel::Found CachingAllocatorModel::take_from_device(const Request& request) {
  switch (options_.segments) {
    case SegmentKind::kFixed: return take_segment(request);
    case SegmentKind::kExpandable: return expand_segment(request);
  }
  return std::nullopt;
}

CachingAllocatorModel::Found CachingAllocatorModel::take_segment(const Request& request) {
  if (!fits_device(request.segment_bytes)) return std::nullopt;
  stats_.segment.increase(1);
  stats_.reserved_bytes.increase(request.segment_bytes);
  ++stats_.num_device_alloc;
  return map_.add_segment(request.pool, request.segment_bytes, BlockState::kFree);
}

CachingAllocatorModel::Found CachingAllocatorModel::expand_segment(const Request& request) {
  Found block = find_expandable(request);
  if ((*block)->second.state == BlockState::kUnmapped) block = map_memory(*block, std::min((*block)->second.bytes, request.bytes));
  while (block && (*block)->second.bytes < request.bytes) {
    const BlockMap::Position unmapped = map_.next(*block).value();
    block = map_memory(unmapped, std::min(unmapped->second.bytes, request.bytes - (*block)->second.bytes));
  }
  return block;
}

// The lowest run of unmapped and free blocks that holds the request; a new segment when there is none.
BlockMap::Position CachingAllocatorModel::find_expandable(const Request& request) {
  const auto is_usable = [](const Found& block) { return block && (*block)->second.state != BlockState::kAllocated; };
  for (const std::int64_t address : map_.unmapped_blocks(request.pool)) {
    BlockMap::Position first = map_.at(address);
    if (const Found previous = map_.previous(first); is_usable(previous)) first = *previous;
    std::int64_t room_bytes = 0;
    for (Found block = first; is_usable(block) && room_bytes < request.bytes; block = map_.next(*block))
      room_bytes += (*block)->second.bytes;
    if (room_bytes >= request.bytes) return first;
  }
  const std::int64_t unit = mapping_unit_bytes(request.pool);
  return map_.add_segment(request.pool, std::max(unit, round_up(address_space_bytes(), unit)), BlockState::kUnmapped);
}

// Puts memory behind the first `bytes` of an unmapped block, in whole units, and joins it with its free neighbours.
CachingAllocatorModel::Found CachingAllocatorModel::map_memory(BlockMap::Position unmapped, std::int64_t bytes) {
  const std::int64_t mapped_bytes = round_up(bytes, mapping_unit_bytes(unmapped->second.pool));
  if (!fits_device(mapped_bytes)) return std::nullopt;
  if (mapped_bytes < unmapped->second.bytes) map_.split(unmapped, mapped_bytes);
  map_.set_state(unmapped, BlockState::kFree);
  stats_.reserved_bytes.increase(mapped_bytes);
  ++stats_.num_device_alloc;
  return map_.merge_neighbours(unmapped);
}

// Gives back the whole units inside a free block; what is left at its ends stays cached.
void CachingAllocatorModel::unmap_memory(BlockMap::Position block) {
  const std::int64_t unit = mapping_unit_bytes(block->second.pool);
  const std::int64_t first = block->first - block->second.segment;
  const std::int64_t begin = round_up(first, unit);
  const std::int64_t end = round_down(first + block->second.bytes, unit);
  if (begin >= end) return;
  if (begin > first) block = map_.split(block, begin - first);
  if (end - begin < block->second.bytes) map_.split(block, end - begin);
  map_.set_state(block, BlockState::kUnmapped);
  stats_.reserved_bytes.decrease(end - begin);
  ++stats_.num_device_free;
  block = map_.merge_neighbours(block);
  if (map_.is_whole_segment(block)) map_.remove_segment(block);
}

void CachingAllocatorModel::release_unused(Pool pool) {
  std::vector<std::int64_t> addresses;
  for (const auto& [bytes, address] : map_.free_blocks(pool)) addresses.push_back(address);
  for (const std::int64_t address : addresses) {
    const BlockMap::Position block = map_.at(address);
    if (options_.segments == SegmentKind::kExpandable) {
      unmap_memory(block);
    } else if (map_.is_whole_segment(block)) {
      stats_.segment.decrease(1);
      stats_.reserved_bytes.decrease(block->second.bytes);
      ++stats_.num_device_free;
      map_.remove_segment(block);
    }
  }
}

bool CachingAllocatorModel::fits_device(std::int64_t bytes) const {
  return !options_.capacity_bytes || stats_.reserved_bytes.current + bytes <= *options_.capacity_bytes;
}

// PyTorch reserves addresses for 1 1/8 of the device.
std::int64_t CachingAllocatorModel::address_space_bytes() const {
  return options_.capacity_bytes ? *options_.capacity_bytes + *options_.capacity_bytes / 8 : kMaxRequestBytes;
}

std::int64_t CachingAllocatorModel::room_to_grow_bytes(BlockMap::Position block) {
  const Found next = map_.next(block);
  return block->second.bytes + (next && (*next)->second.state == BlockState::kUnmapped ? (*next)->second.bytes : 0);
}

bool CachingAllocatorModel::should_split(const Request& request, std::int64_t block_bytes) const {
  const std::int64_t remaining_bytes = block_bytes - request.bytes;
  if (request.pool == Pool::kSmall || options_.segments == SegmentKind::kExpandable) return remaining_bytes >= kMinBlockBytes;
  return remaining_bytes > kMaxSmallBytes;
}

BlockId CachingAllocatorModel::hand_out(BlockMap::Position block, const Request& request) {
  if (should_split(request, block->second.bytes)) map_.split(block, request.bytes);
  map_.set_state(block, BlockState::kAllocated);
  block->second.requested_bytes = request.requested_bytes;
  stats_.allocation.increase(1);
  stats_.allocated_bytes.increase(block->second.bytes);
  stats_.requested_bytes.increase(request.requested_bytes);
  return BlockId{block->first};
}

void CachingAllocatorModel::fail(const Request& request) {
  ++stats_.num_ooms;
  const std::string capacity = options_.capacity_bytes ? std::to_string(*options_.capacity_bytes) : "unlimited";
  OutOfModelledMemory error("out of modelled memory: wanted " + std::to_string(request.requested_bytes) + " bytes, found allocated " +
                            std::to_string(stats_.allocated_bytes.current) + ", reserved " + std::to_string(stats_.reserved_bytes.current) +
                            ", largest free block " + std::to_string(largest_free_block_bytes()) + " of capacity " + capacity);
  error.requested_bytes = request.requested_bytes;
  error.segment_bytes = request.segment_bytes;
  error.allocated_bytes = stats_.allocated_bytes.current;
  error.reserved_bytes = stats_.reserved_bytes.current;
  error.capacity_bytes = options_.capacity_bytes;
  error.largest_free_block_bytes = largest_free_block_bytes();
  error.num_alloc_retries = stats_.num_alloc_retries;
  throw error;
}

}  // namespace rematch::probes
