// The caching allocator's rules again, written as plainly as can be: lists, linear searches, everything counted afresh on each question.
// Fixed segments only. A second opinion for the randomised test.
#pragma once

#include <cstdint>
#include <list>
#include <optional>

namespace rematch::probes {

class NaiveAllocator {
 public:
  explicit NaiveAllocator(std::int64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  struct Piece {
    std::int64_t bytes;
    bool is_live;
  };
  struct Segment {
    bool is_small;
    std::list<Piece> pieces;
  };
  struct Handle {
    std::list<Segment>::iterator segment;
    std::list<Piece>::iterator piece;
  };

  std::optional<Handle> allocate(std::int64_t bytes) {  // nullopt: out of memory
    const std::int64_t rounded = (bytes + 511) / 512 * 512;
    const bool is_small = rounded <= 1 << 20;
    auto found = best_fit(is_small, rounded);
    if (!found) found = new_segment(is_small, rounded);
    if (!found) {
      segments_.remove_if([](const Segment& segment) { return segment.pieces.size() == 1 && !segment.pieces.front().is_live; });
      ++num_retries_;
      found = new_segment(is_small, rounded);
    }
    if (!found) return std::nullopt;
    const std::int64_t rest = found->piece->bytes - rounded;
    if (is_small ? rest >= 512 : rest > 1 << 20) {
      found->segment->pieces.insert(std::next(found->piece), Piece{rest, false});
      found->piece->bytes = rounded;
    }
    found->piece->is_live = true;
    return found;
  }

  void free(Handle handle) {
    handle.piece->is_live = false;
    auto& pieces = handle.segment->pieces;
    for (auto piece = pieces.begin(); piece != pieces.end() && std::next(piece) != pieces.end();) {
      const auto next = std::next(piece);
      if (piece->is_live || next->is_live) {
        ++piece;
      } else {
        piece->bytes += next->bytes;
        pieces.erase(next);
      }
    }
  }

  std::int64_t sum_bytes(bool only_live) const {
    std::int64_t sum = 0;
    for (const Segment& segment : segments_)
      for (const Piece& piece : segment.pieces) sum += only_live && !piece.is_live ? 0 : piece.bytes;
    return sum;
  }
  std::int64_t largest_free_bytes() const {
    std::int64_t largest = 0;
    for (const Segment& segment : segments_)
      for (const Piece& piece : segment.pieces)
        if (!piece.is_live && piece.bytes > largest) largest = piece.bytes;
    return largest;
  }
  std::int64_t num_retries() const { return num_retries_; }
  std::int64_t num_segments() const { return static_cast<std::int64_t>(segments_.size()); }

 private:
  // The first smallest in the order of the segments, which is the order of addresses.
  std::optional<Handle> best_fit(bool is_small, std::int64_t bytes) {
    std::optional<Handle> best;
    for (auto segment = segments_.begin(); segment != segments_.end(); ++segment) {
      if (segment->is_small != is_small) continue;
      for (auto piece = segment->pieces.begin(); piece != segment->pieces.end(); ++piece)
        if (!piece->is_live && piece->bytes >= bytes && (!best || piece->bytes < best->piece->bytes)) best = Handle{segment, piece};
    }
    return best;
  }

  std::optional<Handle> new_segment(bool is_small, std::int64_t bytes) {
    std::int64_t segment_bytes = 2 << 20;
    if (!is_small) segment_bytes = bytes < 10 << 20 ? 20 << 20 : (bytes + (2 << 20) - 1) / (2 << 20) * (2 << 20);
    if (sum_bytes(false) + segment_bytes > capacity_bytes_) return std::nullopt;
    const auto segment = segments_.insert(segments_.end(), Segment{is_small, {Piece{segment_bytes, false}}});
    return Handle{segment, segment->pieces.begin()};
  }

  std::int64_t capacity_bytes_;
  std::int64_t num_retries_ = 0;
  std::list<Segment> segments_;
};

}  // namespace rematch::probes
