// CachingAllocatorModel under seeded random traffic: it agrees with the naive allocator, and its blocks always tile their segments.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "probes/allocator/caching_allocator_model.h"
#include "tests/probes/allocator/naive_allocator.h"

namespace rematch::probes {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

// Sizes of every class, odd ones and the class borders among them.
std::int64_t random_bytes(std::mt19937& random) {
  static constexpr std::int64_t kBorders[] = {1, 512, 513, kMiB, kMiB + 1, 10 * kMiB - 512, 10 * kMiB, 11 * kMiB, 20 * kMiB};
  const auto below = [&random](std::int64_t limit) { return std::uniform_int_distribution<std::int64_t>(1, limit)(random); };
  switch (random() % 4) {
    case 0: return kBorders[random() % std::size(kBorders)];
    case 1: return below(64 * 1024);
    case 2: return below(4 * kMiB);
    default: return below(24 * kMiB);
  }
}

void expect_tiled(const CachingAllocatorModel& model) {
  std::int64_t allocated_bytes = 0;
  std::int64_t reserved_bytes = 0;
  std::int64_t num_allocated = 0;
  const Block* previous = nullptr;
  std::int64_t previous_end = 0;
  for (const auto& [address, block] : model.blocks()) {
    ASSERT_GT(block.bytes, 0);
    ASSERT_EQ(block.bytes % 512, 0);
    if (previous && previous->segment == block.segment) {
      ASSERT_EQ(address, previous_end);
      ASSERT_TRUE(block.state == BlockState::kAllocated || block.state != previous->state) << "unmerged neighbours";
    } else {
      ASSERT_EQ(address, block.segment);
      ASSERT_GE(address, previous_end);
    }
    const bool is_allocated = block.state == BlockState::kAllocated;
    allocated_bytes += is_allocated ? block.bytes : 0;
    num_allocated += is_allocated ? 1 : 0;
    reserved_bytes += block.state == BlockState::kUnmapped ? 0 : block.bytes;
    previous = &block;
    previous_end = address + block.bytes;
  }
  ASSERT_EQ(model.stats().allocated_bytes.current, allocated_bytes);
  ASSERT_EQ(model.stats().allocation.current, num_allocated);
  ASSERT_EQ(model.stats().reserved_bytes.current, reserved_bytes);
  ASSERT_LE(model.stats().reserved_bytes.current, model.options().capacity_bytes.value());
}

TEST(RandomAllocations, AgreeWithTheNaiveAllocator) {
  std::mt19937 random(20260810);
  CachingAllocatorModel model({200 * kMiB, SegmentKind::kFixed});
  NaiveAllocator naive(200 * kMiB);
  std::vector<std::pair<BlockId, NaiveAllocator::Handle>> live;
  std::int64_t num_ooms = 0;
  for (int i = 0; i < 4000; ++i) {
    if (live.empty() || random() % 100 < 52) {
      const std::int64_t bytes = random_bytes(random);
      const auto wanted = naive.allocate(bytes);
      try {
        const BlockId block = model.allocate(bytes);
        ASSERT_TRUE(wanted.has_value()) << bytes;
        ASSERT_EQ(model.block_bytes(block), wanted->piece->bytes);
        live.emplace_back(block, *wanted);
      } catch (const OutOfModelledMemory&) {
        ASSERT_FALSE(wanted.has_value()) << bytes;
        ++num_ooms;
      }
    } else {
      std::swap(live[random() % live.size()], live.back());
      model.free(live.back().first);
      naive.free(live.back().second);
      live.pop_back();
    }
    ASSERT_EQ(model.stats().allocated_bytes.current, naive.sum_bytes(true));
    ASSERT_EQ(model.stats().reserved_bytes.current, naive.sum_bytes(false));
    ASSERT_EQ(model.largest_free_block_bytes(), naive.largest_free_bytes());
    ASSERT_EQ(model.stats().segment.current, naive.num_segments());
    ASSERT_EQ(model.stats().num_alloc_retries, naive.num_retries());
  }
  EXPECT_GT(num_ooms, 10) << "the traffic never filled the device";
  EXPECT_EQ(model.stats().num_ooms, num_ooms);
  EXPECT_GT(model.stats().num_alloc_retries, num_ooms) << "no retry ever helped";
}

class RandomTraffic : public testing::TestWithParam<SegmentKind> {};

TEST_P(RandomTraffic, LeavesBlocksThatTileTheirSegments) {
  std::mt19937 random(7);
  CachingAllocatorModel model({200 * kMiB, GetParam()});
  std::vector<BlockId> live;
  for (int i = 0; i < 3000; ++i) {
    if (live.empty() || random() % 100 < 52) {
      try {
        live.push_back(model.allocate(random_bytes(random)));
      } catch (const OutOfModelledMemory&) {
      }
    } else {
      std::swap(live[random() % live.size()], live.back());
      model.free(live.back());
      live.pop_back();
    }
    if (i % 10 == 0) {
      ASSERT_NO_FATAL_FAILURE(expect_tiled(model));
    }
  }
  EXPECT_GT(model.stats().num_ooms, 10) << "the traffic never filled the device";
  for (const BlockId block : live) model.free(block);
  model.empty_cache();
  EXPECT_EQ(model.stats().reserved_bytes.current, 0);
  EXPECT_TRUE(model.stats().segment.current == 0 && model.stats().requested_bytes.current == 0);
}

INSTANTIATE_TEST_SUITE_P(SegmentKinds, RandomTraffic, testing::Values(SegmentKind::kFixed, SegmentKind::kExpandable),
                         [](const auto& kind) { return kind.param == SegmentKind::kFixed ? "Fixed" : "Expandable"; });

}  // namespace
}  // namespace rematch::probes
