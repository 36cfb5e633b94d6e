#include "probes/allocator/trace_replay.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "probes/allocator/allocation_trace.h"
#include "tests/support/temp_dir.h"

namespace rematch::probes {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

class Replay : public ::testing::Test {
 protected:
  TraceReplay replay(const std::vector<TraceEvent>& events, const AllocatorOptions& options = {}) {
    const auto path = (folder_.path() / std::to_string(num_traces_++)).string();
    AllocationTraceWriter writer(path);
    for (const auto& event : events) writer.write(event);
    writer.close();
    return replay_trace(path, options);
  }

  tests::TempDir folder_;
  int num_traces_ = 0;
};

TraceEvent allocate(std::int64_t block, std::int64_t bytes) { return {TraceEvent::Kind::kAllocate, block, bytes}; }
TraceEvent free_of(std::int64_t block) { return {TraceEvent::Kind::kFree, block, 0}; }
TraceEvent refused(std::int64_t bytes) { return {TraceEvent::Kind::kRefused, 0, bytes}; }

// Eight blocks of 12 MiB, every second one freed, and a request of 24 MiB: four segments lie fallow, and none serves it.
std::vector<TraceEvent> checkered() {
  std::vector<TraceEvent> events;
  for (int block = 1; block <= 8; ++block) events.push_back(allocate(block, 12 * kMiB));
  for (int block = 1; block <= 8; block += 2) events.push_back(free_of(block));
  events.push_back(allocate(9, 24 * kMiB));
  return events;
}

TEST_F(Replay, CountsWhatCheckeredSegmentsLoseToFragmentation) {
  const auto result = replay(checkered());
  EXPECT_EQ(result.stats.allocated_bytes.lifetime_peak, 96 * kMiB);
  EXPECT_EQ(result.stats.requested_bytes.lifetime_peak, 96 * kMiB);
  EXPECT_EQ(result.stats.reserved_bytes.lifetime_peak, 120 * kMiB);
  EXPECT_EQ(result.stats.segment.lifetime_peak, 9);
  EXPECT_EQ(result.fragmentation.reserved_less_allocated_bytes, 48 * kMiB);
  EXPECT_EQ(result.fragmentation.largest_free_block_bytes, 12 * kMiB);
  EXPECT_EQ(result.num_events, 13);
  EXPECT_FALSE(result.out_of_memory);
}

TEST_F(Replay, RetriesUnderACapacityThatHoldsOnceFreeSegmentsAreGivenBack) {
  const auto result = replay(checkered(), {100 * kMiB, SegmentKind::kFixed});
  EXPECT_EQ(result.stats.num_alloc_retries, 1);
  EXPECT_EQ(result.stats.reserved_bytes.lifetime_peak, 96 * kMiB);
  EXPECT_EQ(result.fragmentation.reserved_less_allocated_bytes, 0);
  EXPECT_EQ(result.stats.reserved_bytes.current, 72 * kMiB);
  EXPECT_FALSE(result.out_of_memory);
}

TEST_F(Replay, MapsExpandableSegmentsWhereFixedOnesLieFallow) {
  std::vector<TraceEvent> events = {allocate(1, 40 * kMiB), allocate(2, 40 * kMiB), free_of(1), free_of(2), allocate(3, 80 * kMiB)};
  EXPECT_EQ(replay(events).stats.reserved_bytes.lifetime_peak, 160 * kMiB);
  const auto expandable = replay(events, {std::nullopt, SegmentKind::kExpandable});
  EXPECT_EQ(expandable.stats.reserved_bytes.lifetime_peak, 80 * kMiB);
  EXPECT_EQ(expandable.fragmentation.reserved_less_allocated_bytes, 0);
}

TEST_F(Replay, EndsWhereItRunsOutOfMemory) {
  const auto result = replay({allocate(1, 30 * kMiB), allocate(2, 30 * kMiB - 100), free_of(1)}, {40 * kMiB, SegmentKind::kFixed});
  ASSERT_TRUE(result.out_of_memory);
  EXPECT_EQ(result.num_events, 2);
  EXPECT_EQ(result.out_of_memory->requested_bytes, 30 * kMiB - 100);
  EXPECT_EQ(result.out_of_memory->allocated_bytes, 30 * kMiB);
  EXPECT_EQ(result.stats.allocated_bytes.current, 30 * kMiB);
}

TEST_F(Replay, TriesWhatWasRefusedAndKeepsNothingOfIt) {
  const std::vector<TraceEvent> events = {allocate(1, 10 * kMiB), refused(30 * kMiB), free_of(1)};
  EXPECT_TRUE(replay(events, {20 * kMiB, SegmentKind::kFixed}).out_of_memory);
  const auto result = replay(events);
  EXPECT_FALSE(result.out_of_memory);
  EXPECT_EQ(result.stats.allocated_bytes.lifetime_peak, 40 * kMiB);
  EXPECT_EQ(result.stats.allocated_bytes.current, 0);
}

// The same requests, made of an allocator directly.
TEST_F(Replay, EqualsTheAllocatorThatItRecordsOfInEveryStatistic) {
  for (const SegmentKind segments : {SegmentKind::kFixed, SegmentKind::kExpandable}) {
    const AllocatorOptions options{1160 * kMiB, segments};
    CachingAllocatorModel model(options);
    std::mt19937 random(7);
    std::vector<TraceEvent> events;
    std::vector<std::pair<std::int64_t, BlockId>> live;
    for (std::int64_t number = 1; number <= 2000; ++number) {
      if (live.size() > 40 && random() % 2 == 0) {
        std::swap(live[random() % live.size()], live.back());
        events.push_back(free_of(live.back().first));
        model.free(live.back().second);
        live.pop_back();
      }
      const auto bytes = static_cast<std::int64_t>(random() % (random() % 2 == 0 ? 900000u : 40000000u)) + 1;
      if (model.stats().allocated_bytes.current + bytes > 900 * kMiB) continue;
      events.push_back(allocate(number, bytes));
      live.emplace_back(number, model.allocate(bytes));
    }
    const auto ours = replay(events, options).stats;
    const auto& theirs = model.stats();
    EXPECT_TRUE(segments == SegmentKind::kExpandable || theirs.num_alloc_retries > 0);
    EXPECT_EQ(ours.allocated_bytes.lifetime_peak, theirs.allocated_bytes.lifetime_peak);
    EXPECT_EQ(ours.requested_bytes.lifetime_peak, theirs.requested_bytes.lifetime_peak);
    EXPECT_EQ(ours.reserved_bytes.lifetime_peak, theirs.reserved_bytes.lifetime_peak);
    EXPECT_EQ(ours.reserved_bytes.current, theirs.reserved_bytes.current);
    EXPECT_EQ(ours.segment.lifetime_peak, theirs.segment.lifetime_peak);
    EXPECT_EQ(ours.num_alloc_retries, theirs.num_alloc_retries);
    EXPECT_EQ(ours.num_device_alloc, theirs.num_device_alloc);
  }
}

TEST_F(Replay, IsADocumentInWhichWhatIsNotCountedIsNull) {
  const auto fixed = nlohmann::json::parse(replay_document(replay(checkered(), {100 * kMiB, SegmentKind::kFixed})));
  EXPECT_EQ(fixed["segments"], "fixed");
  EXPECT_EQ(fixed["capacity_bytes"], 100 * kMiB);
  EXPECT_EQ(fixed["peak_num_segments"], 8);
  EXPECT_TRUE(fixed["out_of_memory"].is_null());
  const auto expandable = nlohmann::json::parse(replay_document(replay(checkered(), {60 * kMiB, SegmentKind::kExpandable})));
  EXPECT_EQ(expandable["segments"], "expandable");
  EXPECT_TRUE(expandable["peak_num_segments"].is_null());
  EXPECT_EQ(expandable["out_of_memory"]["requested_bytes"], 12 * kMiB);
  EXPECT_EQ(expandable["num_events"], 6);
}

}  // namespace
}  // namespace rematch::probes
