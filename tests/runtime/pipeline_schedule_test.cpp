#include "runtime/parallel/pipeline_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <tuple>

namespace rematch::parallel {
namespace {

using Slot = std::pair<std::int64_t, std::int64_t>;  // micro-batch, chunk

std::vector<ScheduleSlot> of_rank(std::int64_t size, std::int64_t rank, std::int64_t chunks, std::int64_t num_micro_batches) {
  return pipeline_schedule({size, rank, chunks, num_micro_batches});
}

std::string text_of(const std::vector<ScheduleSlot>& slots) {
  std::string text;
  for (const auto& slot : slots)
    text += (text.empty() ? "" : " ") + std::string(slot.direction == Direction::kForward ? "F" : "B") + std::to_string(slot.micro_batch) +
            (slot.model_chunk > 0 ? "." + std::to_string(slot.model_chunk) : "");
  return text;
}

std::int64_t most_in_flight(const std::vector<ScheduleSlot>& slots) {
  std::int64_t now = 0, most = 0;
  for (const auto& slot : slots) most = std::max(most, now += slot.direction == Direction::kForward ? 1 : -1);
  return most;
}

// Calls `check` for every size of pipeline, number of chunks and number of micro-batches that the contract covers.
template <typename Check>
void for_all_pipelines(const Check& check) {
  for (std::int64_t size = 1; size <= 5; ++size)
    for (std::int64_t chunks = 1; chunks <= (size == 1 ? 1 : 3); ++chunks)
      for (std::int64_t num = 1; num <= 4 * size; ++num) {
        if (chunks > 1 && num % size != 0) continue;
        SCOPED_TRACE(testing::Message() << size << " ranks, " << chunks << " chunks, " << num << " micro-batches");
        check(size, chunks, num);
      }
}

// Ranks that carry out their slots as messages come; a message waits in its channel until it is taken.
class Simulation {
 public:
  Simulation(std::int64_t size, std::int64_t chunks, std::int64_t num_micro_batches) : num_stages_(size * chunks), size_(size) {
    for (std::int64_t rank = 0; rank < size; ++rank) {
      const auto slots = of_rank(size, rank, chunks, num_micro_batches);
      left_.emplace_back(slots.begin(), slots.end());
    }
  }

  // False: the ranks wait for one another.
  bool run() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::int64_t rank = 0; rank < size_; ++rank)
        while (!left_[static_cast<std::size_t>(rank)].empty() && step(rank)) moved = true;
    }
    return std::all_of(left_.begin(), left_.end(), [](const auto& slots) { return slots.empty(); }) &&
           std::all_of(channels_.begin(), channels_.end(), [](const auto& channel) { return channel.second.empty(); });
  }

 private:
  using Channel = std::tuple<Direction, std::int64_t, std::int64_t>;  // what flows, sender, receiver

  bool step(std::int64_t rank) {
    auto& slots = left_[static_cast<std::size_t>(rank)];
    const auto slot = slots.front();
    const bool forward = slot.direction == Direction::kForward;
    const std::int64_t stage = slot.model_chunk * size_ + rank, onwards = forward ? 1 : -1;
    const auto before = stage - onwards, after = stage + onwards;
    if (before >= 0 && before < num_stages_) {
      auto& channel = channels_[{slot.direction, before % size_, rank}];
      if (channel.empty()) return false;
      EXPECT_EQ(channel.front(), Slot(slot.micro_batch, stage)) << "another message than the rank expects";
      channel.pop_front();
    }
    EXPECT_EQ(done_.count({slot.micro_batch, stage}), forward ? 0u : 1u) << "backward before its forward";
    if (forward) done_[{slot.micro_batch, stage}] = true;
    if (after >= 0 && after < num_stages_) channels_[{slot.direction, rank, after % size_}].emplace_back(slot.micro_batch, after);
    slots.pop_front();
    return true;
  }

  std::int64_t num_stages_, size_;
  std::vector<std::deque<ScheduleSlot>> left_;
  std::map<Channel, std::deque<Slot>> channels_;  // micro-batch and the stage it goes to
  std::map<Slot, bool> done_;
};

TEST(PipelineSchedule, TakesEveryMicroBatchOnceInEachDirectionThroughEveryChunk) {
  for_all_pipelines([](std::int64_t size, std::int64_t chunks, std::int64_t num) {
    for (std::int64_t rank = 0; rank < size; ++rank) {
      std::map<std::tuple<Direction, std::int64_t, std::int64_t>, int> counts;
      for (const auto& slot : of_rank(size, rank, chunks, num)) ++counts[{slot.direction, slot.micro_batch, slot.model_chunk}];
      EXPECT_EQ(counts.size(), static_cast<std::size_t>(2 * num * chunks));
      for (const auto& [slot, count] : counts) EXPECT_EQ(count, 1);
    }
  });
}

TEST(PipelineSchedule, SendsWhatTheNextRankExpectsAndNeverDeadlocks) {
  for_all_pipelines([](std::int64_t size, std::int64_t chunks, std::int64_t num) { EXPECT_TRUE(Simulation(size, chunks, num).run()); });
}

TEST(PipelineSchedule, HoldsAsManyMicroBatchesAsRanksAreLeftIn1F1B) {
  for_all_pipelines([](std::int64_t size, std::int64_t chunks, std::int64_t num) {
    if (chunks > 1) return;
    for (std::int64_t rank = 0; rank < size; ++rank) EXPECT_EQ(most_in_flight(of_rank(size, rank, 1, num)), std::min(num, size - rank));
  });
}

TEST(PipelineSchedule, HoldsMegatronsWarmupAndOneMoreWhereChunksInterleave) {
  for_all_pipelines([](std::int64_t size, std::int64_t chunks, std::int64_t num) {
    if (chunks == 1) return;
    for (std::int64_t rank = 0; rank < size; ++rank)
      EXPECT_EQ(most_in_flight(of_rank(size, rank, chunks, num)), std::min(2 * (size - rank - 1) + (chunks - 1) * size + 1, num * chunks));
  });
}

TEST(PipelineSchedule, IsMegatronsOrder) {
  EXPECT_EQ(text_of(of_rank(1, 0, 1, 2)), "F0 B0 F1 B1");
  EXPECT_EQ(text_of(of_rank(2, 0, 1, 4)), "F0 F1 B0 F2 B1 F3 B2 B3");
  EXPECT_EQ(text_of(of_rank(2, 1, 1, 4)), "F0 B0 F1 B1 F2 B2 F3 B3");
  EXPECT_EQ(text_of(of_rank(2, 0, 2, 4)), "F0 F1 F0.1 F1.1 F2 B0.1 F3 B1.1 F2.1 B0 F3.1 B1 B2.1 B3.1 B2 B3");
  EXPECT_EQ(text_of(of_rank(2, 1, 2, 4)), "F0 F1 F0.1 B0.1 F1.1 B1.1 F2 B0 F3 B1 F2.1 B2.1 F3.1 B3.1 B2 B3");
}

}  // namespace
}  // namespace rematch::parallel
