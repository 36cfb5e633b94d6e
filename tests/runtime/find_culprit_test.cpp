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

RankState computing(int rank, std::int64_t seconds) { return {.rank = rank, .host = "node-a", .for_ns = seconds * kSecond}; }

RankState in(int rank, const std::string& axis, const std::string& operation, std::int64_t index, std::int64_t seconds) {
  return {.rank = rank, .host = "node-a", .axis = axis, .operation = operation, .index = index, .for_ns = seconds * kSecond};
}

class FindCulprit : public ::testing::Test {
 protected:
  // Every rank waits in the 12th all-to-all of its experts' group, for 10 s; a test changes what one of them does.
  FindCulprit() {
    for (int rank = 0; rank < 8; ++rank) scene_.states.push_back(in(rank, "ep", "all_to_all", 12, 10));
  }
  RankState& rank(int number) { return scene_.states[static_cast<std::size_t>(number)]; }
  Suspect culprit() const { return find_culprit(scene_, eight_ranks()); }

  Scene scene_{.end = CollectiveEnd::kTimedOut, .rank = 4, .silent_for_ns = 2 * kSecond, .timeout_ns = 10 * kSecond};
};

TEST_F(FindCulprit, NamesARankWhoseProcessHasEndedBeforeOneThatIsSilent) {
  scene_.silent = {1};
  scene_.gone = {6};
  EXPECT_EQ(culprit().rank, 6);
  EXPECT_NE(culprit().reason.find("rank 6 on node-a"), std::string::npos);
}

TEST_F(FindCulprit, NamesASilentRankBeforeOneThatComputes) {
  rank(2) = computing(2, 60);
  scene_.silent = {5, 6};
  EXPECT_EQ(culprit().rank, 5);
  EXPECT_NE(culprit().reason.find("rank 6"), std::string::npos) << "both are said";
}

TEST_F(FindCulprit, NamesNobodyForALostConnectionWhileEveryProcessRuns) {
  rank(2) = computing(2, 60);
  scene_.end = CollectiveEnd::kConnectionLost;
  EXPECT_EQ(culprit().rank, std::nullopt);
}

TEST_F(FindCulprit, NamesTheRankThatHasComputedLongest) {
  rank(2) = computing(2, 9);
  rank(7) = computing(7, 11);
  EXPECT_EQ(culprit().rank, 7);
  EXPECT_NE(culprit().reason.find("computing for 11.0 s"), std::string::npos);
}

TEST_F(FindCulprit, NamesTheRankThatStaysInAnEarlierCollectiveThanItsGroup) {
  for (const int peer : {4, 5, 7}) rank(peer).index = 13;
  rank(6).for_ns = 11 * kSecond;
  for (const int other : {0, 1, 2, 3}) rank(other) = in(other, "world", "all_reduce", 5, 9);
  EXPECT_EQ(culprit().rank, 6);
  EXPECT_NE(culprit().reason.find("all_to_all 12 over axis ep"), std::string::npos);
}

TEST_F(FindCulprit, NamesTheRankInAnotherCollectiveBeforeOneThatHasJustBegunToCompute) {
  rank(6) = in(6, "dp", "all_reduce", 3, 11);
  rank(1) = computing(1, 0);
  EXPECT_EQ(culprit().rank, 6);
}

TEST_F(FindCulprit, NamesARankThatComputesForAWhileWhenNobodyElseStandsOut) {
  rank(6) = computing(6, 3);
  EXPECT_EQ(culprit().rank, 6);
}

TEST_F(FindCulprit, SaysPlainlyThatAllWait) {
  EXPECT_EQ(culprit().rank, std::nullopt);
  EXPECT_NE(culprit().reason.find("all ranks wait"), std::string::npos);
}

TEST_F(FindCulprit, HoldsNeighboursOfAPipelineForTogetherWhateverTheirCounts) {
  for (int number = 0; number < 8; ++number) rank(number) = in(number, "pp", number % 2 == 0 ? "receive" : "exchange", number, 10);
  EXPECT_EQ(culprit().rank, std::nullopt);
}

}  // namespace
}  // namespace rematch::peers
