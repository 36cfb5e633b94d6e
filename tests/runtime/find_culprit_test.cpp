#include "runtime/peers/find_culprit.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rematch::peers {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Eight ranks, experts over 0-3 and 4-7, all of them data-parallel.
protocol::ParallelDims eight_ranks() {
  protocol::ParallelSpec spec;
  spec.world_size = 8;
  spec.expert_model_parallel_size = 4;
  return protocol::ParallelDims(spec);
}

// In its `count`-th collective over the axis; over ep every rank has begun 12 before that, over world 5.
RankState in(int rank, const std::string& axis, const std::string& operation, std::int64_t count, std::int64_t seconds) {
  RankState state{.rank = rank, .host = "node-a", .axis = axis, .operation = operation, .for_ns = seconds * kSecond};
  state.num_begun = {{"ep", 12}, {"world", 5}};
  state.num_begun[axis] = count;
  return state;
}

RankState computing(int rank, std::int64_t seconds, std::int64_t num_begun_over_ep) {
  auto state = in(rank, "ep", "", num_begun_over_ep, seconds);
  state.axis.clear();
  return state;
}

class FindCulprit : public ::testing::Test {
 protected:
  // Every rank waits in the 12th all-to-all of its experts' group, for 10 s; a test changes what some of them do.
  FindCulprit() {
    for (int rank = 0; rank < 8; ++rank) scene_.states.push_back(in(rank, "ep", "all_to_all", 12, 10));
  }
  RankState& rank(int number) { return scene_.states[static_cast<std::size_t>(number)]; }
  Suspect culprit() const { return find_culprit(scene_, eight_ranks()); }

  Scene scene_{.end = CollectiveEnd::kTimedOut, .silent_for_ns = 2 * kSecond};
};

TEST_F(FindCulprit, NamesARankWhoseProcessHasEndedBeforeOneThatIsSilent) {
  scene_.silent = {1};
  scene_.gone = {6};
  EXPECT_EQ(culprit().rank, 6);
  EXPECT_NE(culprit().reason.find("rank 6 on node-a"), std::string::npos);
}

TEST_F(FindCulprit, NamesASilentRankBeforeOneThatComputes) {
  rank(2) = computing(2, 60, 11);
  scene_.silent = {5, 6};
  EXPECT_EQ(culprit().rank, 5);
  EXPECT_NE(culprit().reason.find("rank 6"), std::string::npos) << "both are said";
}

TEST_F(FindCulprit, NamesNobodyForALostConnectionWhileEveryProcessRuns) {
  rank(2) = computing(2, 60, 11);
  scene_.end = CollectiveEnd::kConnectionLost;
  EXPECT_EQ(culprit().rank, std::nullopt);
}

TEST_F(FindCulprit, NamesTheRankThatHasComputedLongestOfThoseThatAreAwaited) {
  rank(2) = computing(2, 9, 11);
  rank(7) = computing(7, 11, 11);
  EXPECT_EQ(culprit().rank, 7);
  EXPECT_NE(culprit().reason.find("has been computing for 11.0 s"), std::string::npos);
}

TEST_F(FindCulprit, LetsARankComputeThatNobodyWaitsFor) {
  rank(1) = computing(1, 60, 12);  // it has been through the collective that its peers are in
  rank(6) = computing(6, 9, 11);
  EXPECT_EQ(culprit().rank, 6);
}

// Rank 6 is still in a collective that its group has left; how long each has waited says nothing.
TEST_F(FindCulprit, NamesTheRankThatStaysInAnEarlierCollectiveThanItsGroup) {
  for (const int peer : {4, 5, 7}) rank(peer) = in(peer, "ep", "all_to_all", 13, 12);
  for (const int other : {0, 1, 2, 3}) rank(other) = in(other, "world", "all_reduce", 6, 9);
  EXPECT_EQ(culprit().rank, 6);
  EXPECT_NE(culprit().reason.find("all_to_all 12 over axis ep"), std::string::npos);
}

TEST_F(FindCulprit, NamesTheRankThatStaysBehindWhenItsGroupIsInACollectiveOfAnotherAxis) {
  for (const int other : {0, 1, 2, 3, 4, 5, 7}) rank(other) = in(other, "world", "all_reduce", 6, 12);
  EXPECT_EQ(culprit().rank, 6);
}

TEST_F(FindCulprit, NamesTheRankThatCallsAnotherOperationThanItsGroup) {
  rank(6).operation = "all_reduce";
  EXPECT_EQ(culprit().rank, 6);
}

TEST_F(FindCulprit, NamesTheRankThatWentToAnotherCollectiveThanItsGroup) {
  for (int number = 0; number < 8; ++number) rank(number) = in(number, "world", "all_reduce", 6, 10);
  rank(6) = in(6, "ep", "all_to_all", 13, 10);
  EXPECT_EQ(culprit().rank, 6) << "seven wait for it, and it alone waits for three of them";
}

TEST_F(FindCulprit, NamesNobodyWhereTwoAreAwaitedByAsMany) {
  for (const int other : {0, 1, 2, 3, 6}) rank(other) = in(other, "world", "all_reduce", 6, 10);
  for (const int other : {4, 5, 7}) rank(other) = in(other, "ep", "all_to_all", 13, 10);
  EXPECT_EQ(culprit().rank, std::nullopt) << "either 6 left a collective out, or 4, 5 and 7 called one too many";
}

TEST_F(FindCulprit, SaysPlainlyThatAllWait) {
  EXPECT_EQ(culprit().rank, std::nullopt);
  EXPECT_NE(culprit().reason.find("all ranks wait"), std::string::npos);
  EXPECT_NE(culprit().reason.find("rank 7 has been in all_to_all 12 over axis ep for 10.0 s"), std::string::npos);
}

TEST_F(FindCulprit, FollowsMessagesFromNeighbourToNeighbour) {
  for (int number = 0; number < 8; ++number) {
    rank(number) = in(number, "dp", "receive", 0, 10);
    rank(number).peers = {(number + 1) % 8};
  }
  EXPECT_EQ(culprit().rank, std::nullopt) << "a ring";
  rank(3) = computing(3, 10, 12);
  EXPECT_EQ(culprit().rank, 3);
}

}  // namespace
}  // namespace rematch::peers
