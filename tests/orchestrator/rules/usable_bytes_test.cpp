#include "orchestrator/rules/usable_bytes.h"

#include <gtest/gtest.h>

#include "tests/orchestrator/published_builder.h"

namespace rematch::rules {
namespace {

using protocol::Phase;
using protocol::Published;
using protocol::PublishedEnd;
using tests::kMegabyte;
using tests::published_row;

// One run an arm, its peak in the first iteration and from the second on.
struct Peaks {
  std::vector<std::string> labels;
  std::int64_t first_megabytes;
  std::int64_t later_megabytes;
};

base::StudyRows unlimited_study(const std::vector<Peaks>& arms) {
  tests::StudyBuilder builder("simulated");
  for (const Peaks& peaks : arms) {
    const std::string arm = peaks.labels.empty() ? "[]" : builder.add_arm(peaks.labels).arm;
    base::AttemptRows& run = builder.run(arm, {.forward_peak_bytes = 100 * kMegabyte,
                                               .backward_peak_bytes = peaks.first_megabytes * kMegabyte,
                                               .optimizer_peak_bytes = 100 * kMegabyte,
                                               .num_steps = 3});
    run.trial.backend.memory_limit_bytes.reset();
    if (peaks.later_megabytes != peaks.first_megabytes) tests::raise_phase(run, 1, Phase::kBackward, peaks.later_megabytes * kMegabyte);
  }
  tests::mark_predicted(builder.rows());
  return builder.rows();
}

UsableBytes usable(const base::StudyRows& study, const std::vector<protocol::PublishedRow>& rows) {
  Published published = tests::make_published();
  published.rows = rows;
  return usable_bytes(study, published);
}

TEST(UsableBytes, AreAtLeastWhatCompletedRowsNeedAndLessThanWhatFailedRowsNeeded) {
  const base::StudyRows study = unlimited_study({{{}, 700, 1000}, {{"moe_act"}, 600, 950}, {{"moe"}, 500, 800}});
  const UsableBytes bytes =
      usable(study, {published_row({}, PublishedEnd::kOutOfMemory, 1), published_row({"moe_act"}, PublishedEnd::kOutOfMemory, 1),
                     published_row({"moe"}, PublishedEnd::kCompleted, 12)});
  EXPECT_EQ(bytes.allocated.from_bytes, 800 * kMegabyte);
  EXPECT_EQ(bytes.allocated.from_arm, "moe");
  EXPECT_EQ(bytes.allocated.below_bytes, 950 * kMegabyte);
  EXPECT_EQ(bytes.allocated.below_arm, "moe_act");
  EXPECT_EQ(bytes.reserved.from_bytes, 900 * kMegabyte);
  EXPECT_EQ(bytes.reserved.below_bytes, 1050 * kMegabyte);
  EXPECT_FALSE(bytes.allocated.is_empty || bytes.reserved.is_empty);
  EXPECT_TRUE(bytes.allocated_rests.empty() && bytes.reserved_rests.empty());
  EXPECT_TRUE(bytes.allocated.contradicting.empty());
  EXPECT_EQ(bytes.rows[0].at_least->allocated, 700 * kMegabyte) << "it got through iteration 1";
  EXPECT_EQ(bytes.rows[0].at_least_over, "iteration 1");
  EXPECT_EQ(bytes.rows[2].at_least_over, "all steps");
  EXPECT_EQ(bytes.rows[0].failing_iteration, 2);
}

TEST(UsableBytes, OfAFailureInTheFirstIterationAreLessThanItsPeak) {
  const base::StudyRows study = unlimited_study({{{}, 700, 1000}});
  const UsableBytes bytes = usable(study, {published_row({}, PublishedEnd::kOutOfMemory, 0)});
  EXPECT_EQ(bytes.rows[0].less_than->allocated, 700 * kMegabyte) << "not that of a later iteration";
  EXPECT_FALSE(bytes.rows[0].at_least);
  EXPECT_FALSE(bytes.allocated.from_bytes);
  EXPECT_EQ(bytes.allocated.below_bytes, 700 * kMegabyte);
}

TEST(UsableBytes, TakeWhatAFailedRowGotThroughAsALowerBoundToo) {
  const base::StudyRows study = unlimited_study({{{}, 900, 1000}, {{"moe"}, 500, 800}});
  const UsableBytes bytes =
      usable(study, {published_row({}, PublishedEnd::kOutOfMemory, 1), published_row({"moe"}, PublishedEnd::kCompleted, 12)});
  EXPECT_EQ(bytes.allocated.from_bytes, 900 * kMegabyte);
  EXPECT_EQ(bytes.allocated.from_arm, "[]");
}

// core_attn failed in iteration 1 with the control's own peak, which the control got through.
TEST(UsableBytes, AreNoneWhereRowsContradictEachOther) {
  const base::StudyRows study =
      unlimited_study({{{}, 700, 1000}, {{"core_attn"}, 700, 1000}, {{"moe"}, 500, 800}, {{"moe_act"}, 400, 900}});
  const UsableBytes bytes =
      usable(study, {published_row({}, PublishedEnd::kOutOfMemory, 1), published_row({"core_attn"}, PublishedEnd::kOutOfMemory, 0),
                     published_row({"moe"}, PublishedEnd::kCompleted, 12), published_row({"moe_act"}, PublishedEnd::kOutOfMemory, 1)});
  EXPECT_TRUE(bytes.allocated.is_empty);
  EXPECT_EQ(bytes.allocated.from_bytes, 800 * kMegabyte);
  EXPECT_EQ(bytes.allocated.below_bytes, 700 * kMegabyte);
  EXPECT_EQ(bytes.allocated.contradicting, (std::vector<std::string>{"[]", "core_attn", "moe"}));
  ASSERT_EQ(bytes.allocated_rests.size(), 1U) << "two rows contradict core_attn, which contradicts them";
  EXPECT_EQ(bytes.allocated_rests[0].without, (std::vector<std::string>{"core_attn"}));
  EXPECT_EQ(bytes.allocated_rests[0].from_bytes, 800 * kMegabyte);
  EXPECT_EQ(bytes.allocated_rests[0].below_bytes, 900 * kMegabyte);
  EXPECT_EQ(bytes.reserved_rests[0].from_bytes, 900 * kMegabyte);
}

TEST(UsableBytes, GiveEveryChoiceOfTheFewestRowsThatAreNotExplained) {
  const base::StudyRows study = unlimited_study({{{}, 700, 1000}, {{"core_attn"}, 700, 1000}, {{"moe"}, 500, 600}});
  const UsableBytes bytes =
      usable(study, {published_row({}, PublishedEnd::kOutOfMemory, 1), published_row({"core_attn"}, PublishedEnd::kOutOfMemory, 0),
                     published_row({"moe"}, PublishedEnd::kCompleted, 12)});
  ASSERT_EQ(bytes.allocated_rests.size(), 2U);
  EXPECT_EQ(bytes.allocated_rests[0].without, (std::vector<std::string>{"[]"}));
  EXPECT_EQ(bytes.allocated_rests[0].from_bytes, 600 * kMegabyte);
  EXPECT_EQ(bytes.allocated_rests[0].below_bytes, 700 * kMegabyte);
  EXPECT_EQ(bytes.allocated_rests[1].without, (std::vector<std::string>{"core_attn"}));
  EXPECT_EQ(bytes.allocated_rests[1].from_bytes, 700 * kMegabyte);
  EXPECT_EQ(bytes.allocated_rests[1].below_bytes, 1000 * kMegabyte);
}

TEST(UsableBytes, AreEmptyWhereTheBoundsMeet) {
  const base::StudyRows study = unlimited_study({{{}, 800, 800}, {{"moe"}, 800, 800}});
  const UsableBytes bytes =
      usable(study, {published_row({}, PublishedEnd::kOutOfMemory, 0), published_row({"moe"}, PublishedEnd::kCompleted, 12)});
  EXPECT_TRUE(bytes.allocated.is_empty) << "at least 800 MB and less than 800 MB";
}

TEST(UsableBytes, SayNothingOfAPeakThatTheStudyDidNotReach) {
  const base::StudyRows study = unlimited_study({{{}, 700, 1000}});
  const UsableBytes late = usable(study, {published_row({}, PublishedEnd::kOutOfMemory, 3)});
  EXPECT_EQ(late.rows[0].why_not, "iteration 4 was not completed here");
  EXPECT_EQ(late.rows[0].at_least->allocated, 1000 * kMegabyte);
  EXPECT_FALSE(late.rows[0].less_than);
  const UsableBytes open = usable(study, {published_row({}, PublishedEnd::kOutOfMemory, std::nullopt)});
  EXPECT_NE(open.rows[0].why_not.find("how far it got"), std::string::npos);
}

TEST(UsableBytes, SayNothingByARunThatFailedItself) {
  tests::StudyBuilder builder("simulated");
  builder.run_out_of_memory("[]", protocol::Stage::kWarm, Phase::kForward, 1);
  const UsableBytes completed = usable(builder.rows(), {published_row({}, PublishedEnd::kCompleted, 12)});
  EXPECT_FALSE(completed.rows[0].at_least);
  EXPECT_NE(completed.rows[0].why_not.find("without a memory limit"), std::string::npos);
  const UsableBytes failed = usable(builder.rows(), {published_row({}, PublishedEnd::kOutOfMemory, 1)});
  EXPECT_FALSE(failed.rows[0].less_than) << "its peak is known as far as it got only";
  EXPECT_TRUE(failed.rows[0].at_least);
}

TEST(UsableBytes, AreComparedWithTheAssumedCapacity) {
  base::StudyRows study = unlimited_study({{{}, 700, 1000}, {{"moe"}, 500, 800}});
  const std::vector<protocol::PublishedRow> rows = {published_row({}, PublishedEnd::kOutOfMemory, 1),
                                                    published_row({"moe"}, PublishedEnd::kCompleted, 12)};
  EXPECT_FALSE(usable(study, rows).capacity_bytes);
  tests::assume_device(study, 900 * kMegabyte);
  const UsableBytes bytes = usable(study, rows);
  EXPECT_EQ(bytes.capacity_bytes, 900 * kMegabyte) << "the device's memory less what is outside of the allocator";
  const Bounds bounds = {bytes.allocated.from_bytes, bytes.allocated.below_bytes};
  EXPECT_EQ(is_inside(bounds, bytes.capacity_bytes), true);
  EXPECT_EQ(is_inside(bounds, 800 * kMegabyte), true) << "as much as was needed";
  EXPECT_EQ(is_inside(bounds, 799 * kMegabyte), false);
  EXPECT_EQ(is_inside(bounds, 1000 * kMegabyte), false) << "a peak that fits does not fail";
  EXPECT_FALSE(is_inside(bounds, std::nullopt));
  EXPECT_FALSE(is_inside({}, 900 * kMegabyte)) << "no row bounds it";
}

}  // namespace
}  // namespace rematch::rules
