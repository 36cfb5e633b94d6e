// LiveBytes: the sums are the allocator's, and the copy taken late is the one that would have been taken at once.
#include "probes/allocator/live_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "probes/allocator/caching_allocator_model.h"

namespace rematch::probes {
namespace {

using protocol::Attribution;
using protocol::Role;

TagId tag(Role role, const std::string& region = "") {
  const RoleScope role_scope(role);
  if (region.empty()) return open_tag();
  const RegionScope region_scope(region);
  return open_tag();
}

// Every live block by number, copied whole at every new peak.
class EagerBytes {
 public:
  void add(const TaggedBytes& block) {
    live_[block.number] = block;
    total_ += block.bytes;
    if (total_ > peak_) at_peak_ = live_;
    peak_ = std::max(peak_, total_);
  }
  void remove(const TaggedBytes& block) {
    live_.erase(block.number);
    total_ -= block.bytes;
  }
  void retag(const TaggedBytes& block) {
    live_[block.number] = block;
    if (at_peak_.contains(block.number)) at_peak_[block.number] = block;
  }
  void reset_peak() {
    peak_ = total_;
    at_peak_ = live_;
  }
  Attribution now() const { return attribution_of(live_); }
  Attribution at_peak() const { return attribution_of(at_peak_); }

 private:
  using Blocks = std::map<std::int64_t, TaggedBytes>;
  static Attribution attribution_of(const Blocks& blocks) {
    std::map<std::pair<Role, std::string>, std::int64_t> sums;
    for (const auto& [number, block] : blocks) sums[{tag_of(block.tag).role, tag_of(block.tag).region}] += block.bytes;
    Attribution attribution;
    for (const auto& [key, bytes] : sums) attribution.push_back({key.first, key.second, bytes});
    return attribution;
  }

  Blocks live_;
  Blocks at_peak_;
  std::int64_t total_ = 0;
  std::int64_t peak_ = 0;
};

TEST(LiveBytes, SplitsThePeakByTagAndForgetsItAtAReset) {
  LiveBytes live;
  const auto weights = live.add(tag(Role::kParameters), 1000);
  const auto act = live.add(tag(Role::kActivations, "moe_act"), 300);
  live.remove(act);
  live.add(tag(Role::kGradients), 200);
  EXPECT_EQ(live.at_peak(), (Attribution{{Role::kParameters, "", 1000}, {Role::kActivations, "moe_act", 300}}));
  EXPECT_EQ(live.now(), (Attribution{{Role::kParameters, "", 1000}, {Role::kGradients, "", 200}}));
  live.reset_peak();
  EXPECT_EQ(live.at_peak(), live.now());
  live.remove(weights);
  EXPECT_EQ(protocol::total_bytes(live.at_peak()), 1200);
}

TEST(LiveBytes, KeepsTheFirstOfTwoEqualPeaks) {
  LiveBytes live;
  const auto first = live.add(tag(Role::kActivations, "mlp"), 512);
  live.remove(first);
  live.add(tag(Role::kTemporaries), 512);
  EXPECT_EQ(live.at_peak(), (Attribution{{Role::kActivations, "mlp", 512}}));
}

TEST(LiveBytes, MovesARetaggedBlockInThePeakToo) {
  LiveBytes live;
  auto output = live.add(tag(Role::kActivations, "core_attn"), 512);
  live.remove(live.add(tag(Role::kTemporaries), 1024));
  live.retag(output, tag(Role::kActivations));
  EXPECT_EQ(live.at_peak(), (Attribution{{Role::kActivations, "", 512}, {Role::kTemporaries, "", 1024}}));
  EXPECT_EQ(live.now(), (Attribution{{Role::kActivations, "", 512}}));
}

TEST(LiveBytes, LeavesThePeakAloneWhenARetaggedBlockCameAfterIt) {
  LiveBytes live;
  live.remove(live.add(tag(Role::kActivations, "mlp"), 1024));
  auto later = live.add(tag(Role::kActivations, "moe"), 512);
  live.retag(later, tag(Role::kActivations));
  EXPECT_EQ(live.at_peak(), (Attribution{{Role::kActivations, "mlp", 1024}}));
}

TEST(LiveBytes, EqualsCopiesTakenAtOnceUnderRandomTraffic) {
  std::mt19937 random(20260911);
  const std::vector<TagId> tags = {tag(Role::kParameters), tag(Role::kActivations), tag(Role::kActivations, "moe"),
                                   tag(Role::kActivations, "layernorm"), tag(Role::kTemporaries)};
  CachingAllocatorModel model;
  LiveBytes lazy;
  EagerBytes eager;
  std::vector<std::pair<BlockId, TaggedBytes>> blocks;
  int num_peaks_that_fell = 0;
  for (int i = 0; i < 1500; ++i) {
    const auto choice = random() % 100;
    if (choice == 0) {
      model.reset_peaks();
      lazy.reset_peak();
      eager.reset_peak();
    } else if (blocks.empty() || choice < 48) {
      const BlockId id = model.allocate(1 + static_cast<std::int64_t>(random() % 3'000'000));
      blocks.emplace_back(id, lazy.add(tags[random() % tags.size()], model.block_bytes(id)));
      eager.add(blocks.back().second);
    } else if (choice < 58) {
      auto& block = blocks[random() % blocks.size()].second;
      lazy.retag(block, tags[random() % tags.size()]);
      eager.retag(block);
    } else {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      model.free(blocks.back().first);
      lazy.remove(blocks.back().second);
      eager.remove(blocks.back().second);
      blocks.pop_back();
    }
    ASSERT_EQ(lazy.now(), eager.now()) << i;
    ASSERT_EQ(lazy.at_peak(), eager.at_peak()) << i;
    ASSERT_EQ(protocol::total_bytes(lazy.now()), model.stats().allocated_bytes.current);
    ASSERT_EQ(protocol::total_bytes(lazy.at_peak()), model.stats().allocated_bytes.peak);
    num_peaks_that_fell += lazy.at_peak() != lazy.now() ? 1 : 0;
  }
  EXPECT_GT(num_peaks_that_fell, 300) << "the traffic never left its peak";
}

}  // namespace
}  // namespace rematch::probes
