#include "probes/allocator/live_bytes.h"

#include <algorithm>

namespace rematch::probes {

namespace {

protocol::Attribution attribution_of(const std::vector<std::int64_t>& by_tag) {
  protocol::Attribution attribution;
  for (std::size_t id = 0; id < by_tag.size(); ++id) {
    if (by_tag[id] == 0) continue;
    const Tag tag = tag_of(TagId{id});
    attribution.push_back({tag.role, tag.region, by_tag[id]});
  }
  std::sort(attribution.begin(), attribution.end());
  return attribution;
}

}  // namespace

std::int64_t& LiveBytes::bytes_of(BytesByTag& by_tag, TagId tag) {
  const auto index = static_cast<std::size_t>(tag);
  if (index >= by_tag.size()) by_tag.resize(index + 1);
  return by_tag[index];
}

TaggedBytes LiveBytes::add(TagId tag, std::int64_t bytes) {
  ++num_allocations_;
  bytes_of(live_, tag) += bytes;
  total_bytes_ += bytes;
  if (total_bytes_ > peak_bytes_) {
    peak_bytes_ = total_bytes_;
    peak_number_ = num_allocations_;
    peak_is_now_ = true;
  }
  return {bytes, num_allocations_, tag};
}

void LiveBytes::remove(const TaggedBytes& block) {
  if (peak_is_now_) peak_copy_ = live_;
  peak_is_now_ = false;
  bytes_of(live_, block.tag) -= block.bytes;
  total_bytes_ -= block.bytes;
}

void LiveBytes::retag(TaggedBytes& block, TagId tag) {
  const auto move = [&](BytesByTag& by_tag) {
    bytes_of(by_tag, block.tag) -= block.bytes;
    bytes_of(by_tag, tag) += block.bytes;
  };
  move(live_);
  if (!peak_is_now_ && block.number <= peak_number_) move(peak_copy_);
  block.tag = tag;
}

void LiveBytes::reset_peak() {
  peak_bytes_ = total_bytes_;
  peak_number_ = num_allocations_;
  peak_is_now_ = true;
}

protocol::Attribution LiveBytes::now() const { return attribution_of(live_); }
protocol::Attribution LiveBytes::at_peak() const { return attribution_of(peak_is_now_ ? live_ : peak_copy_); }

}  // namespace rematch::probes
