#include "probes/allocator/caching_allocator_model.h"

#include <gtest/gtest.h>

namespace rematch::probes {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

AllocatorOptions capacity(std::int64_t bytes) { return {bytes, SegmentKind::kFixed}; }

TEST(CachingAllocatorModel, RoundsSizesUpTo512Bytes) {
  CachingAllocatorModel model;
  EXPECT_EQ(model.block_bytes(model.allocate(1)), 512);
  EXPECT_EQ(model.block_bytes(model.allocate(512)), 512);
  EXPECT_EQ(model.block_bytes(model.allocate(513)), 1024);
  EXPECT_EQ(model.stats().allocated_bytes.current, 2048);
  EXPECT_EQ(model.stats().requested_bytes.current, 1026);
}

TEST(CachingAllocatorModel, ServesRequestsUpToOneMebibyteFromTwoMebibyteSegments) {
  CachingAllocatorModel model;
  model.allocate(kMiB);
  model.allocate(kMiB);
  EXPECT_EQ(model.stats().reserved_bytes.current, 2 * kMiB);
  EXPECT_EQ(model.stats().segment.current, 1);
  model.allocate(1);
  EXPECT_EQ(model.stats().reserved_bytes.current, 4 * kMiB);
}

TEST(CachingAllocatorModel, ServesMiddlingRequestsFromTwentyMebibyteSegments) {
  CachingAllocatorModel model;
  model.allocate(kMiB + 1);
  EXPECT_EQ(model.stats().reserved_bytes.current, 20 * kMiB);
  model.allocate(10 * kMiB - 512);
  EXPECT_EQ(model.stats().reserved_bytes.current, 20 * kMiB);
}

TEST(CachingAllocatorModel, GivesLargeRequestsASegmentOfTheirOwnRoundedToTwoMebibytes) {
  CachingAllocatorModel model;
  model.allocate(10 * kMiB);
  EXPECT_EQ(model.stats().reserved_bytes.current, 10 * kMiB);
  model.allocate(11 * kMiB);
  EXPECT_EQ(model.stats().reserved_bytes.current, 22 * kMiB);
}

TEST(CachingAllocatorModel, SplitsALargeBlockOnlyWhenMoreThanOneMebibyteIsLeft) {
  CachingAllocatorModel model;
  // 11 MiB of a 12 MiB segment: exactly 1 MiB is left, so the whole segment is handed out and counted.
  EXPECT_EQ(model.block_bytes(model.allocate(11 * kMiB)), 12 * kMiB);
  EXPECT_EQ(model.stats().allocated_bytes.current, 12 * kMiB);
  EXPECT_EQ(model.largest_free_block_bytes(), 0);
  EXPECT_EQ(model.block_bytes(model.allocate(11 * kMiB - 512)), 11 * kMiB - 512);
  EXPECT_EQ(model.largest_free_block_bytes(), kMiB + 512);
}

TEST(CachingAllocatorModel, SplitsASmallBlockDownToTheLast512Bytes) {
  CachingAllocatorModel model;
  model.allocate(kMiB);
  model.allocate(kMiB - 512);
  EXPECT_EQ(model.largest_free_block_bytes(), 512);
  model.allocate(512);
  EXPECT_EQ(model.largest_free_block_bytes(), 0);
}

TEST(CachingAllocatorModel, TakesTheSmallestBlockThatFits) {
  CachingAllocatorModel model;
  const BlockId four_kib = model.allocate(4096);
  model.allocate(512);
  const BlockId two_kib = model.allocate(2048);
  model.allocate(512);
  model.free(four_kib);
  model.free(two_kib);
  EXPECT_EQ(model.allocate(1536), two_kib);
  EXPECT_EQ(model.allocate(3072), four_kib);
}

TEST(CachingAllocatorModel, TakesTheLowestAddressAmongEquals) {
  CachingAllocatorModel model;
  const BlockId low = model.allocate(2048);
  model.allocate(512);
  const BlockId high = model.allocate(2048);
  model.allocate(512);
  model.free(high);
  model.free(low);
  EXPECT_EQ(model.allocate(2048), low);
  EXPECT_EQ(model.allocate(2048), high);
}

TEST(CachingAllocatorModel, MergesAFreedBlockWithBothNeighbours) {
  CachingAllocatorModel model;
  const BlockId first = model.allocate(4 * kMiB);
  const BlockId second = model.allocate(4 * kMiB);
  const BlockId third = model.allocate(4 * kMiB);
  model.allocate(8 * kMiB);
  model.free(first);
  model.free(third);
  EXPECT_EQ(model.largest_free_block_bytes(), 4 * kMiB);
  model.free(second);
  EXPECT_EQ(model.largest_free_block_bytes(), 12 * kMiB);
  EXPECT_EQ(model.blocks().size(), 2u);
}

TEST(CachingAllocatorModel, DoesNotMergeAcrossSegments) {
  CachingAllocatorModel model;
  const BlockId first = model.allocate(10 * kMiB);
  const BlockId second = model.allocate(10 * kMiB);
  model.free(first);
  model.free(second);
  EXPECT_EQ(model.largest_free_block_bytes(), 10 * kMiB);
  model.allocate(12 * kMiB);
  EXPECT_EQ(model.stats().reserved_bytes.current, 32 * kMiB);
}

TEST(CachingAllocatorModel, KeepsFreedMemoryReservedUntilTheCacheIsEmptied) {
  CachingAllocatorModel model;
  model.free(model.allocate(10 * kMiB));
  const BlockId kept = model.allocate(512);
  EXPECT_EQ(model.stats().allocated_bytes.current, 512);
  EXPECT_EQ(model.stats().reserved_bytes.current, 12 * kMiB);
  model.empty_cache();
  EXPECT_EQ(model.stats().reserved_bytes.current, 2 * kMiB);
  EXPECT_EQ(model.stats().num_device_free, 1);
  model.free(kept);
}

TEST(CachingAllocatorModel, ReleasesUnusedSegmentsAndRetriesWhenTheDeviceIsFull) {
  CachingAllocatorModel model(capacity(32 * kMiB));
  model.free(model.allocate(10 * kMiB));
  model.allocate(20 * kMiB);
  EXPECT_EQ(model.stats().num_alloc_retries, 0);
  EXPECT_EQ(model.block_bytes(model.allocate(12 * kMiB)), 12 * kMiB);
  EXPECT_EQ(model.stats().num_alloc_retries, 1);
  EXPECT_EQ(model.stats().num_ooms, 0);
  EXPECT_EQ(model.stats().reserved_bytes.current, 32 * kMiB);
}

TEST(CachingAllocatorModel, CannotReleaseASegmentThatIsInUseInPart) {
  CachingAllocatorModel model(capacity(40 * kMiB));
  const BlockId big = model.allocate(8 * kMiB);
  model.allocate(2 * kMiB);
  model.free(big);  // 18 MiB of the segment are free, in two pieces
  EXPECT_THROW(model.allocate(22 * kMiB), OutOfModelledMemory);
  EXPECT_EQ(model.stats().reserved_bytes.current, 20 * kMiB);
}

TEST(CachingAllocatorModel, SaysWhatDidNotFit) {
  CachingAllocatorModel model(capacity(48 * kMiB));
  model.free(model.allocate(512));  // its segment is released on the way
  const BlockId freed = model.allocate(8 * kMiB);
  model.allocate(2 * kMiB);
  model.free(freed);
  model.allocate(18 * kMiB);
  try {
    model.allocate(11 * kMiB - 100);
    FAIL() << "it fitted";
  } catch (const OutOfModelledMemory& error) {
    EXPECT_EQ(error.requested_bytes, 11 * kMiB - 100);
    EXPECT_EQ(error.segment_bytes, 12 * kMiB);
    EXPECT_EQ(error.allocated_bytes, 20 * kMiB);
    EXPECT_EQ(error.reserved_bytes, 38 * kMiB);
    EXPECT_EQ(error.capacity_bytes, 48 * kMiB);
    EXPECT_EQ(error.largest_free_block_bytes, 10 * kMiB);
    EXPECT_EQ(error.num_alloc_retries, 1);
    EXPECT_NE(std::string(error.what()).find(std::to_string(11 * kMiB - 100)), std::string::npos);
  }
  EXPECT_EQ(model.stats().num_ooms, 1);
  model.allocate(10 * kMiB);  // goes on as before
  EXPECT_EQ(model.stats().allocated_bytes.current, 30 * kMiB);
}

TEST(CachingAllocatorModel, FillsTheCapacityToTheLastByte) {
  CachingAllocatorModel model(capacity(20 * kMiB));
  model.allocate(20 * kMiB);
  CachingAllocatorModel short_of_one(capacity(20 * kMiB - 1));
  EXPECT_THROW(short_of_one.allocate(20 * kMiB), OutOfModelledMemory);
}

TEST(CachingAllocatorModel, KeepsPeaksSinceTheResetAndForLife) {
  CachingAllocatorModel model;
  model.free(model.allocate(30 * kMiB));
  model.reset_peaks();
  EXPECT_EQ(model.stats().allocated_bytes.peak, 0);
  EXPECT_EQ(model.stats().reserved_bytes.peak, 30 * kMiB);
  model.free(model.allocate(10 * kMiB));
  EXPECT_EQ(model.stats().allocated_bytes.current, 0);
  EXPECT_EQ(model.stats().allocated_bytes.peak, 10 * kMiB);
  EXPECT_EQ(model.stats().allocated_bytes.lifetime_peak, 30 * kMiB);
}

TEST(CachingAllocatorModel, GivesABlockOfNoBytesForNone) {
  CachingAllocatorModel model;
  EXPECT_EQ(model.allocate(0), BlockId::kNone);
  EXPECT_EQ(model.block_bytes(BlockId::kNone), 0);
  model.free(BlockId::kNone);
  EXPECT_EQ(model.stats().allocation.current, 0);
  EXPECT_EQ(model.stats().reserved_bytes.current, 0);
}

TEST(CachingAllocatorModel, RefusesAWrongFreeANegativeSizeAndMoreThanAnyDeviceHas) {
  CachingAllocatorModel model;
  const BlockId block = model.allocate(512);
  EXPECT_THROW(model.free(BlockId{static_cast<std::int64_t>(block) + 1}), std::logic_error);
  model.free(block);
  EXPECT_THROW(model.free(block), std::logic_error);
  EXPECT_THROW(model.allocate(-1), std::logic_error);
  EXPECT_THROW(model.allocate(INT64_MAX), OutOfModelledMemory);
}

}  // namespace
}  // namespace rematch::probes
