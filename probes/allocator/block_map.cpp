#include "probes/allocator/block_map.h"

namespace rematch::probes {

BlockMap::Position BlockMap::add_segment(Pool pool, std::int64_t bytes, BlockState state) {
  const Position block = blocks_.emplace(next_address_, Block{bytes, next_address_, pool, state, 0}).first;
  next_address_ += bytes;
  add_to_index(block);
  return block;
}

void BlockMap::remove_segment(Position block) {
  remove_from_index(block);
  blocks_.erase(block);
}

bool BlockMap::is_whole_segment(Position block) { return !previous(block) && !next(block); }

void BlockMap::set_state(Position block, BlockState state) {
  remove_from_index(block);
  block->second.state = state;
  add_to_index(block);
}

BlockMap::Position BlockMap::split(Position block, std::int64_t bytes) {
  remove_from_index(block);
  Block rest = block->second;
  rest.bytes -= bytes;
  block->second.bytes = bytes;
  const Position second = blocks_.emplace_hint(std::next(block), block->first + bytes, rest);
  add_to_index(block);
  add_to_index(second);
  return second;
}

BlockMap::Position BlockMap::merge_neighbours(Position block) {
  const auto join = [this](Position left, Position right) {
    remove_from_index(left);
    remove_from_index(right);
    left->second.bytes += right->second.bytes;
    blocks_.erase(right);
    add_to_index(left);
    return left;
  };
  const BlockState state = block->second.state;
  if (const auto left = previous(block); left && (*left)->second.state == state) block = join(*left, block);
  if (const auto right = next(block); right && (*right)->second.state == state) block = join(block, *right);
  return block;
}

std::optional<BlockMap::Position> BlockMap::previous(Position block) {
  if (block->first == block->second.segment) return std::nullopt;
  return std::prev(block);
}

std::optional<BlockMap::Position> BlockMap::next(Position block) {
  const Position after = std::next(block);
  if (after == blocks_.end() || after->second.segment != block->second.segment) return std::nullopt;
  return after;
}

void BlockMap::add_to_index(Position block) {
  const auto& [address, content] = *block;
  switch (content.state) {
    case BlockState::kAllocated: return;
    case BlockState::kFree: free_[index_of(content.pool)].emplace(content.bytes, address); return;
    case BlockState::kUnmapped: unmapped_[index_of(content.pool)].insert(address); return;
  }
}

void BlockMap::remove_from_index(Position block) {
  const auto& [address, content] = *block;
  switch (content.state) {
    case BlockState::kAllocated: return;
    case BlockState::kFree: free_[index_of(content.pool)].erase({content.bytes, address}); return;
    case BlockState::kUnmapped: unmapped_[index_of(content.pool)].erase(address); return;
  }
}

}  // namespace rematch::probes
