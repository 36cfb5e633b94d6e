// The blocks of the modelled device by virtual address. Invariants: the blocks of a segment tile it without gap or overlap; every free and
// every unmapped block stands in exactly one index. Used by CachingAllocatorModel, which holds the policy; one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace rematch::probes {

enum class Pool { kSmall, kLarge };
enum class BlockState {
  kAllocated,
  kFree,      // cached and unused
  kUnmapped,  // address space of an expandable segment with no memory behind it
};

struct Block {
  std::int64_t bytes = 0;
  std::int64_t segment = 0;  // address at which its segment begins
  Pool pool = Pool::kSmall;
  BlockState state = BlockState::kFree;
  std::int64_t requested_bytes = 0;  // of an allocated block
};

class BlockMap {
 public:
  using Blocks = std::map<std::int64_t, Block>;  // address -> block
  using Position = Blocks::iterator;
  using BySize = std::set<std::pair<std::int64_t, std::int64_t>>;  // (bytes, address): the first that is not less is the best fit

  const Blocks& blocks() const { return blocks_; }
  Position at(std::int64_t address) { return blocks_.find(address); }
  bool is_block(Position position) const { return position != blocks_.end(); }

  // A new segment of one block, at addresses that were never used before.
  Position add_segment(Pool pool, std::int64_t bytes, BlockState state);
  // The block must be the whole of its segment.
  void remove_segment(Position block);
  bool is_whole_segment(Position block);

  void set_state(Position block, BlockState state);
  // Cuts the block after `bytes`; both parts keep its state. Returns the second part.
  Position split(Position block, std::int64_t bytes);
  // Joins the block with each neighbour of its segment that has the same state. Returns the joined block.
  Position merge_neighbours(Position block);

  // The neighbour in the same segment, if it has one.
  std::optional<Position> previous(Position block);
  std::optional<Position> next(Position block);

  const BySize& free_blocks(Pool pool) const { return free_[index_of(pool)]; }
  const std::set<std::int64_t>& unmapped_blocks(Pool pool) const { return unmapped_[index_of(pool)]; }

 private:
  static std::size_t index_of(Pool pool) { return pool == Pool::kSmall ? 0 : 1; }
  void add_to_index(Position block);
  void remove_from_index(Position block);

  Blocks blocks_;
  std::array<BySize, 2> free_;
  std::array<std::set<std::int64_t>, 2> unmapped_;
  std::int64_t next_address_ = std::int64_t{1} << 21;  // not 0: that is the block of no bytes
};

}  // namespace rematch::probes
