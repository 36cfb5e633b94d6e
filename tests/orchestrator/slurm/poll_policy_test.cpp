#include "orchestrator/slurm/poll_policy.h"

#include <gtest/gtest.h>

#include <vector>

namespace rematch::slurm {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Time = PollPolicy::Time;

// Looks once a second for so long; the seconds at which it asked.
std::vector<int> asked_at(PollPolicy& policy, int num_seconds, bool changes) {
  std::vector<int> asked;
  for (int second = 0; second < num_seconds; ++second) {
    const Time now = Time{} + seconds(second);
    if (!policy.is_due(now)) continue;
    asked.push_back(second);
    policy.called(now);
    policy.asked(now, changes);
  }
  return asked;
}

TEST(PollPolicy, AsksLessAndLessOftenWhileNothingChanges) {
  PollPolicy policy(Time{});
  EXPECT_EQ(asked_at(policy, 300, false), (std::vector<int>{0, 23, 57, 108, 168, 228, 288}));
}

TEST(PollPolicy, AsksEveryFifteenSecondsWhileSomethingChanges) {
  PollPolicy policy(Time{});
  EXPECT_EQ(asked_at(policy, 70, true), (std::vector<int>{0, 15, 30, 45, 60}));
}

TEST(PollPolicy, AsksAtOnceWhenSomethingHappenedButKeepsACallForTheRestOfTheMinute) {
  PollPolicy policy(Time{});
  std::vector<int> asked;
  for (int second = 0; second < 62; ++second) {
    const Time now = Time{} + seconds(second);
    policy.hurry(now);
    if (!policy.is_due(now)) continue;
    asked.push_back(second);
    policy.called(now);
    policy.asked(now, true);
  }
  EXPECT_EQ(asked, (std::vector<int>{0, 1, 2, 17, 60}));
}

TEST(PollPolicy, NeverAllowsMoreThanFourCallsAMinute) {
  PollPolicy policy(Time{});
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(policy.may_call(Time{} + seconds(i)));
    policy.called(Time{} + seconds(i));
  }
  EXPECT_FALSE(policy.may_call(Time{} + milliseconds(59'999)));
  EXPECT_TRUE(policy.may_call(Time{} + seconds(60))) << "the first call has left the window";
}

TEST(PollPolicy, GoesBackToItsShortestIntervalAfterAChange) {
  PollPolicy policy(Time{});
  for (int i = 0; i < 5; ++i) policy.asked(Time{}, false);
  EXPECT_FALSE(policy.is_due(Time{} + seconds(59)));
  policy.asked(Time{}, true);
  EXPECT_TRUE(policy.is_due(Time{} + seconds(15)));
}

}  // namespace
}  // namespace rematch::slurm
