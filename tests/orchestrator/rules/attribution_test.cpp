#include "orchestrator/rules/attribution.h"

#include <gtest/gtest.h>

#include "tests/orchestrator/study_builder.h"

namespace rematch::rules {
namespace {

using protocol::Attribution;
using protocol::Role;
using tests::kMegabyte;

const Attribution kParts = {{Role::kParameters, "", 1},
                            {Role::kActivations, "", 2},
                            {Role::kActivations, "full", 4},
                            {Role::kActivations, "moe", 8},
                            {Role::kActivations, "moe/moe_act", 16},
                            {Role::kActivations, "moe_act2", 32},
                            {Role::kCommunication, "moe", 64},
                            {Role::kTemporaries, "", 128}};

protocol::RecomputeSpec selective(const std::vector<std::string>& labels) {
  return {.recompute_granularity = "selective", .recompute_modules = labels, .core_revision = "24bad8e6"};
}

TEST(Attribution, CountsRegionsByWholeLabelsAtAnyDepth) {
  EXPECT_EQ(covered_bytes(kParts, {"moe_act"}), 16);
  EXPECT_EQ(covered_bytes(kParts, {"moe"}), 8 + 16 + 64);
  EXPECT_EQ(covered_bytes(kParts, {"act"}), 0);
  EXPECT_EQ(covered_bytes(kParts, {}), 0);
}

TEST(Attribution, CountsWhatTwoLabelsCoverOnce) { EXPECT_EQ(covered_bytes(kParts, {"moe", "moe_act"}), 8 + 16 + 64); }

TEST(Attribution, LeavesActivationsUncoveredThatStandInNoLabelsRegion) {
  EXPECT_EQ(uncovered_activation_bytes(kParts, {"moe", "moe_act"}), 2 + 4 + 32);
}

TEST(UpperBound, OfALabelIsWhatItsRegionsHold) {
  const base::AttributedPeak control{.phase = protocol::Phase::kBackward, .attribution = kParts};
  EXPECT_EQ(upper_bound_bytes(control, selective({"moe_act"})), 16);
  EXPECT_EQ(upper_bound_bytes(control, selective({})), 0);
}

TEST(UpperBound, OfFullRecomputeIsEveryActivationAndAllThatRegionsHold) {
  const base::AttributedPeak control{.phase = protocol::Phase::kBackward, .attribution = kParts};
  EXPECT_EQ(upper_bound_bytes(control, {.recompute_granularity = "full"}), 2 + 4 + 8 + 16 + 32 + 64);
}

TEST(UpperBound, IsNothingInAPhaseThatNoLabelLowers) {
  const base::AttributedPeak control{.phase = protocol::Phase::kOptimizer, .attribution = kParts};
  EXPECT_EQ(upper_bound_bytes(control, selective({"moe"})), 0);
}

TEST(AttributedPeak, IsOfTheHotRankAndTheStepOfItsLargestPeak) {
  tests::StudyBuilder builder("one");
  base::AttemptRows& run = builder.run("[]", {.second_rank_extra_bytes = 50 * kMegabyte});
  run.ranks[1].steps[4].phases[protocol::Phase::kForward].peak_allocated_bytes = 1100 * kMegabyte;
  const auto peak = attributed_peak(run);
  ASSERT_TRUE(peak);
  EXPECT_EQ(peak->rank, 1);
  EXPECT_EQ(peak->step, 4);
  EXPECT_EQ(peak->phase, protocol::Phase::kForward);
  EXPECT_EQ(peak->moment, base::Moment::kPeak);
}

TEST(AttributedPeak, IsOfTheRankThatRanOutOfMemory) {
  tests::StudyBuilder builder("one");
  const auto peak = attributed_peak(builder.run_out_of_memory("[]", protocol::Stage::kFirstForward, protocol::Phase::kForward, 0));
  ASSERT_TRUE(peak);
  EXPECT_EQ(peak->moment, base::Moment::kOutOfMemory);
  EXPECT_EQ(protocol::total_bytes(peak->attribution), 960 * kMegabyte);
}

TEST(AttributedPeak, IsNoneWhereTheDeviceCannotTell) {
  tests::StudyBuilder builder("one");
  base::AttemptRows& run = builder.run("[]");
  for (base::RankRows& rank : run.ranks)
    for (protocol::StepRecord& step : rank.steps) step.peak_attribution.reset();
  EXPECT_FALSE(attributed_peak(run));
}

}  // namespace
}  // namespace rematch::rules
