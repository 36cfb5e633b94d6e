// Bytes of live blocks by tag, now and at the peak of their sum since the last reset. A copy for the peak is made only when the first block
// is freed after it, so that a climb of a thousand allocations costs one. Torch-free. Threads: one at a time; the caller locks.
// Failure: none; to remove what was not added is the caller's bug.
#pragma once

#include <cstdint>
#include <vector>

#include "probes/allocator/tag.h"
#include "schemas/protocol/attribution.h"

namespace rematch::probes {

// What LiveBytes knows of one block; its owner keeps it and gives it back.
struct TaggedBytes {
  std::int64_t bytes = 0;
  std::int64_t number = 0;  // of the allocation, counted from the start
  TagId tag{};
};

class LiveBytes {
 public:
  TaggedBytes add(TagId tag, std::int64_t bytes);
  void remove(const TaggedBytes& block);
  // The live block counts as if it had carried `tag` from its allocation on: at the peak too, if it was live then.
  void retag(TaggedBytes& block, TagId tag);
  void reset_peak();  // the peak is now

  protocol::Attribution now() const;
  protocol::Attribution at_peak() const;

 private:
  using BytesByTag = std::vector<std::int64_t>;  // index: TagId
  static std::int64_t& bytes_of(BytesByTag& by_tag, TagId tag);

  BytesByTag live_;
  BytesByTag peak_copy_;     // stale while peak_is_now_
  bool peak_is_now_ = true;  // nothing was freed since the peak
  std::int64_t total_bytes_ = 0;
  std::int64_t peak_bytes_ = 0;
  std::int64_t num_allocations_ = 0;
  std::int64_t peak_number_ = 0;  // of the last allocation before the peak
};

}  // namespace rematch::probes
