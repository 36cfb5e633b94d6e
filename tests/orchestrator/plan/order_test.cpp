#include "orchestrator/plan/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace rematch::plan {
namespace {

TEST(BlockOrders, HoldTheControlTwiceAndEachCandidateOnce) {
  for (auto order : block_orders(50, 5, 1234)) {
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, (std::vector<std::size_t>{0, 0, 1, 2, 3, 4, 5}));
  }
}

// The expected orders come from a separate implementation of splitmix64 and Fisher-Yates.
TEST(BlockOrders, AreTheSameForTheSameSeedOnEveryMachine) {
  const auto orders = block_orders(2, 3, 1234);
  EXPECT_EQ(orders[0], (std::vector<std::size_t>{2, 1, 0, 3, 0}));
  EXPECT_EQ(orders[1], (std::vector<std::size_t>{0, 1, 2, 0, 3}));
}

TEST(BlockOrders, DifferBetweenSeedsAndBetweenBlocks) {
  EXPECT_NE(block_orders(1, 8, 1), block_orders(1, 8, 2));
  const auto orders = block_orders(2, 8, 1);
  EXPECT_NE(orders[0], orders[1]);
}

TEST(BlockOrders, DoNotDependOnTheBlocksThatFollow) { EXPECT_EQ(block_orders(5, 4, 9)[1], block_orders(2, 4, 9)[1]); }

// A shuffle that favours a slot would tie an arm to the drift within a block: each arm is in each slot equally often.
TEST(BlockOrders, PutEveryArmIntoEverySlotEquallyOften) {
  constexpr int kBlocks = 5000;
  std::map<std::pair<std::size_t, std::size_t>, int> counts;
  for (const auto& order : block_orders(kBlocks, 3, 42))
    for (std::size_t slot = 0; slot < order.size(); ++slot) ++counts[{order[slot], slot}];
  for (const auto& [arm_and_slot, count] : counts) {
    const double expected = kBlocks * (arm_and_slot.first == 0 ? 2.0 : 1.0) / 5.0;
    EXPECT_NEAR(count, expected, 5 * std::sqrt(expected)) << "arm " << arm_and_slot.first << " in slot " << arm_and_slot.second;
  }
}

}  // namespace
}  // namespace rematch::plan
