// CachingAllocatorModel with expandable segments: one address range a pool, memory mapped in units of 2 MiB (small) and 20 MiB (large).
#include <gtest/gtest.h>

#include "probes/allocator/caching_allocator_model.h"

namespace rematch::probes {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

CachingAllocatorModel expandable(std::optional<std::int64_t> capacity_bytes = std::nullopt) {
  return CachingAllocatorModel({capacity_bytes, SegmentKind::kExpandable});
}

TEST(ExpandableSegments, MapWholeUnits) {
  CachingAllocatorModel model = expandable();
  model.allocate(512);
  EXPECT_EQ(model.stats().reserved_bytes.current, 2 * kMiB);
  model.allocate(25 * kMiB);
  EXPECT_EQ(model.stats().reserved_bytes.current, 42 * kMiB);
  EXPECT_EQ(model.largest_free_block_bytes(), 15 * kMiB);
}

TEST(ExpandableSegments, GrowAFreeTailInsteadOfTakingASegment) {
  CachingAllocatorModel model = expandable();
  model.allocate(5 * kMiB);
  model.allocate(30 * kMiB);  // 15 MiB of the first unit are free: one more unit does
  EXPECT_EQ(model.stats().reserved_bytes.current, 40 * kMiB);
  EXPECT_EQ(model.stats().num_device_alloc, 2);
}

TEST(ExpandableSegments, SplitALargeBlockDownTo512Bytes) {
  CachingAllocatorModel model = expandable();
  model.allocate(20 * kMiB - 512);
  EXPECT_EQ(model.largest_free_block_bytes(), 512);
}

TEST(ExpandableSegments, FitWhereFixedSegmentsAreFragmented) {
  const auto fill_free_and_ask = [](SegmentKind segments) {
    CachingAllocatorModel model({60 * kMiB, segments});
    const BlockId first = model.allocate(20 * kMiB);
    const BlockId second = model.allocate(20 * kMiB);
    model.allocate(20 * kMiB);
    model.free(first);
    model.free(second);
    model.allocate(12 * kMiB);
    model.allocate(28 * kMiB);
  };
  EXPECT_NO_THROW(fill_free_and_ask(SegmentKind::kExpandable));
  EXPECT_THROW(fill_free_and_ask(SegmentKind::kFixed), OutOfModelledMemory);
}

TEST(ExpandableSegments, PreferASnugHoleToTheGrowingEnd) {
  CachingAllocatorModel model = expandable();
  const BlockId hole = model.allocate(16 * kMiB);
  model.allocate(10 * kMiB);
  model.free(hole);  // 16 MiB free here, 14 MiB before the unmapped end
  EXPECT_EQ(model.largest_free_block_bytes(), 16 * kMiB);
  EXPECT_EQ(model.allocate(12 * kMiB), hole);
}

TEST(ExpandableSegments, TakeTheLowestAddressAmongEqualHoles) {
  CachingAllocatorModel model = expandable();
  const BlockId low = model.allocate(4 * kMiB);
  model.allocate(2 * kMiB);
  const BlockId high = model.allocate(4 * kMiB);
  model.allocate(2 * kMiB);
  model.free(high);
  model.free(low);
  EXPECT_EQ(model.allocate(4 * kMiB), low);
}

TEST(ExpandableSegments, UnmapOnlyWholeUnitsInsideAFreeBlock) {
  CachingAllocatorModel model = expandable();
  model.allocate(5 * kMiB);
  const BlockId middle = model.allocate(50 * kMiB);
  model.allocate(5 * kMiB);
  model.free(middle);  // 5 to 55 MiB: the unit from 20 to 40 lies inside
  EXPECT_EQ(model.stats().reserved_bytes.current, 60 * kMiB);
  model.empty_cache();
  EXPECT_EQ(model.stats().reserved_bytes.current, 40 * kMiB);
  EXPECT_EQ(model.largest_free_block_bytes(), 15 * kMiB);
  EXPECT_EQ(model.block_bytes(model.allocate(50 * kMiB)), 50 * kMiB);  // mapped again, between its free ends
  EXPECT_EQ(model.stats().reserved_bytes.current, 60 * kMiB);
}

TEST(ExpandableSegments, AreGoneWhenNothingIsMapped) {
  CachingAllocatorModel model = expandable();
  model.free(model.allocate(30 * kMiB));
  model.empty_cache();
  EXPECT_EQ(model.stats().reserved_bytes.current, 0);
  EXPECT_TRUE(model.blocks().empty());
}

TEST(ExpandableSegments, UnmapTheOtherPoolsCacheBeforeTheyGiveUp) {
  CachingAllocatorModel model = expandable(40 * kMiB);
  model.free(model.allocate(512));
  model.allocate(40 * kMiB);
  EXPECT_EQ(model.stats().num_alloc_retries, 1);
  EXPECT_THROW(model.allocate(512), OutOfModelledMemory);
  EXPECT_EQ(model.stats().num_ooms, 1);
  EXPECT_THROW(model.allocate(400 * kMiB), OutOfModelledMemory);  // more than the address range
}

}  // namespace
}  // namespace rematch::probes
