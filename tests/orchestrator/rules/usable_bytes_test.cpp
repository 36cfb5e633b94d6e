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
  EXPECT_EQ(bytes.interval.from_bytes, 800 * kMegabyte) << "what it holds, not what it reserves: 900 MB";
  EXPECT_EQ(bytes.interval.from_arm, "moe");
  EXPECT_EQ(bytes.interval.below_bytes, 1050 * kMegabyte) << "what it reserves: 950 MB allocated may fail with 1000 MB";
  EXPECT_EQ(bytes.interval.below_arm, "moe_act");
  EXPECT_FALSE(bytes.interval.is_empty);
  EXPECT_TRUE(bytes.rests.empty());
  EXPECT_TRUE(bytes.interval.contradicting.empty());
  EXPECT_EQ(bytes.rows[0].at_least_bytes, 700 * kMegabyte) << "it got through iteration 1";
  EXPECT_EQ(bytes.rows[0].at_least_over, "iteration 1");
  EXPECT_EQ(bytes.rows[2].at_least_over, "all steps");
  EXPECT_EQ(bytes.rows[0].failing_iteration, 2);
}

TEST(UsableBytes, OfAFailureInTheFirstIterationAreLessThanItsPeak) {
  const base::StudyRows study = unlimited_study({{{}, 700, 1000}});
  const UsableBytes bytes = usable(study, {published_row({}, PublishedEnd::kOutOfMemory, 0)});
  EXPECT_EQ(bytes.rows[0].less_than_bytes, 800 * kMegabyte) << "not that of a later iteration";
  EXPECT_FALSE(bytes.rows[0].at_least_bytes);
  EXPECT_FALSE(bytes.interval.from_bytes);
  EXPECT_EQ(bytes.interval.below_bytes, 800 * kMegabyte);
}

TEST(UsableBytes, TakeWhatAFailedRowGotThroughAsALowerBoundToo) {
  const base::StudyRows study = unlimited_study({{{}, 900, 1000}, {{"moe"}, 500, 800}});
  const UsableBytes bytes =
      usable(study, {published_row({}, PublishedEnd::kOutOfMemory, 1), published_row({"moe"}, PublishedEnd::kCompleted, 12)});
  EXPECT_EQ(bytes.interval.from_bytes, 900 * kMegabyte);
  EXPECT_EQ(bytes.interval.from_arm, "[]");
}

TEST(UsableBytes, TakeWhatWasPublishedAsAllocatedAtTheFailureAsALowerBoundToo) {
  const base::StudyRows study = unlimited_study({{{}, 700, 1000}, {{"moe"}, 500, 800}});
  protocol::PublishedRow control = published_row({}, PublishedEnd::kOutOfMemory, 1);
  control.outcome.allocated = protocol::PublishedBytes{"950 MB", 950 * kMegabyte, 10 * kMegabyte, true};
  const UsableBytes bytes = usable(study, {control, published_row({"moe"}, PublishedEnd::kCompleted, 12)});
  EXPECT_EQ(bytes.rows[0].at_least_bytes, 700 * kMegabyte);
  EXPECT_EQ(bytes.rows[0].published_allocated_bytes, 940 * kMegabyte) << "less what the figure may be rounded by";
  EXPECT_EQ(lower_bound_bytes(bytes.rows[0]), 940 * kMegabyte);
  EXPECT_EQ(bytes.interval.from_bytes, 940 * kMegabyte);
  EXPECT_EQ(bytes.interval.from_arm, "[]");
}

// The allocator gave cached memory back to stay under the limit: what it reserved says less than that the run got through with that limit.
TEST(UsableBytes, AreLessThanTheLimitUnderWhichTheOwnRunHadToGiveMemoryBack) {
  base::StudyRows study = unlimited_study({{{}, 700, 1000}});
  const std::vector<protocol::PublishedRow> rows = {published_row({}, PublishedEnd::kOutOfMemory, 1)};
  study.attempts[0].trial.backend.memory_limit_bytes = 1200 * kMegabyte;
  EXPECT_EQ(usable(study, rows).interval.below_bytes, 1100 * kMegabyte) << "the limit did not bind";
  for (base::RankRows& rank : study.attempts[0].ranks) rank.steps[1].num_alloc_retries = 1;
  EXPECT_EQ(usable(study, rows).interval.below_bytes, 1200 * kMegabyte);
}

// core_attn failed in iteration 1 though it reserves no more than what the control held, which got through.
TEST(UsableBytes, AreNoneWhereRowsContradictEachOther) {
  const base::StudyRows study =
      unlimited_study({{{}, 700, 1000}, {{"core_attn"}, 600, 1000}, {{"moe"}, 500, 800}, {{"moe_act"}, 400, 900}});
  const UsableBytes bytes =
      usable(study, {published_row({}, PublishedEnd::kOutOfMemory, 1), published_row({"core_attn"}, PublishedEnd::kOutOfMemory, 0),
                     published_row({"moe"}, PublishedEnd::kCompleted, 12), published_row({"moe_act"}, PublishedEnd::kOutOfMemory, 1)});
  EXPECT_TRUE(bytes.interval.is_empty);
  EXPECT_EQ(bytes.interval.from_bytes, 800 * kMegabyte);
  EXPECT_EQ(bytes.interval.below_bytes, 700 * kMegabyte);
  EXPECT_EQ(bytes.interval.contradicting, (std::vector<std::string>{"[]", "core_attn", "moe"}));
  ASSERT_EQ(bytes.rests.size(), 1U) << "two rows contradict core_attn, which contradicts them";
  EXPECT_EQ(bytes.rests[0].without, (std::vector<std::string>{"core_attn"}));
  EXPECT_EQ(bytes.rests[0].from_bytes, 800 * kMegabyte);
  EXPECT_EQ(bytes.rests[0].below_bytes, 1000 * kMegabyte);
}

TEST(UsableBytes, GiveEveryChoiceOfTheFewestRowsThatAreNotExplained) {
  const base::StudyRows study = unlimited_study({{{}, 700, 1000}, {{"core_attn"}, 600, 1000}, {{"moe"}, 500, 600}});
  const UsableBytes bytes =
      usable(study, {published_row({}, PublishedEnd::kOutOfMemory, 1), published_row({"core_attn"}, PublishedEnd::kOutOfMemory, 0),
                     published_row({"moe"}, PublishedEnd::kCompleted, 12)});
  ASSERT_EQ(bytes.rests.size(), 2U);
  EXPECT_EQ(bytes.rests[0].without, (std::vector<std::string>{"[]"}));
  EXPECT_EQ(bytes.rests[0].from_bytes, 600 * kMegabyte);
  EXPECT_EQ(bytes.rests[0].below_bytes, 700 * kMegabyte);
  EXPECT_EQ(bytes.rests[1].without, (std::vector<std::string>{"core_attn"}));
  EXPECT_EQ(bytes.rests[1].from_bytes, 700 * kMegabyte);
  EXPECT_EQ(bytes.rests[1].below_bytes, 1100 * kMegabyte);
}

TEST(UsableBytes, AreEmptyWhereTheBoundsMeet) {
  const base::StudyRows study = unlimited_study({{{}, 700, 700}, {{"moe"}, 800, 800}});
  const UsableBytes bytes =
      usable(study, {published_row({}, PublishedEnd::kOutOfMemory, 0), published_row({"moe"}, PublishedEnd::kCompleted, 12)});
  EXPECT_TRUE(bytes.interval.is_empty) << "at least 800 MB and less than 800 MB";
}

TEST(UsableBytes, SayNothingOfAPeakThatTheStudyDidNotReach) {
  const base::StudyRows study = unlimited_study({{{}, 700, 1000}});
  const UsableBytes late = usable(study, {published_row({}, PublishedEnd::kOutOfMemory, 3)});
  EXPECT_EQ(late.rows[0].why_not, "iteration 4 was not completed here");
  EXPECT_EQ(late.rows[0].at_least_bytes, 1000 * kMegabyte);
  EXPECT_FALSE(late.rows[0].less_than_bytes);
  const UsableBytes open = usable(study, {published_row({}, PublishedEnd::kOutOfMemory, std::nullopt)});
  EXPECT_NE(open.rows[0].why_not.find("how far it got"), std::string::npos);
}

TEST(UsableBytes, SayNothingByARunThatFailedItself) {
  tests::StudyBuilder builder("simulated");
  builder.run_out_of_memory("[]", protocol::Stage::kWarm, Phase::kForward, 1);
  const UsableBytes completed = usable(builder.rows(), {published_row({}, PublishedEnd::kCompleted, 12)});
  EXPECT_FALSE(completed.rows[0].at_least_bytes);
  EXPECT_NE(completed.rows[0].why_not.find("memory_limit null"), std::string::npos);
  const UsableBytes failed = usable(builder.rows(), {published_row({}, PublishedEnd::kOutOfMemory, 1)});
  EXPECT_FALSE(failed.rows[0].less_than_bytes) << "its peak is known as far as it got only";
  EXPECT_TRUE(failed.rows[0].at_least_bytes);
}

TEST(UsableBytes, AreComparedWithTheAssumedCapacity) {
  base::StudyRows study = unlimited_study({{{}, 700, 1000}, {{"moe"}, 500, 800}});
  const std::vector<protocol::PublishedRow> rows = {published_row({}, PublishedEnd::kOutOfMemory, 1),
                                                    published_row({"moe"}, PublishedEnd::kCompleted, 12)};
  EXPECT_FALSE(usable(study, rows).capacity_bytes);
  tests::assume_device(study, 900 * kMegabyte);
  const UsableBytes bytes = usable(study, rows);
  EXPECT_EQ(bytes.capacity_bytes, 900 * kMegabyte) << "the device's memory less what is outside of the allocator";
  const Bounds bounds = {bytes.interval.from_bytes, bytes.interval.below_bytes};
  EXPECT_EQ(is_inside(bounds, bytes.capacity_bytes), true);
  EXPECT_EQ(is_inside(bounds, 800 * kMegabyte), true) << "as much as was needed";
  EXPECT_EQ(is_inside(bounds, 799 * kMegabyte), false);
  EXPECT_EQ(is_inside(bounds, 1100 * kMegabyte), false) << "what fits is no failure";
  EXPECT_FALSE(is_inside(bounds, std::nullopt));
  EXPECT_FALSE(is_inside({}, 900 * kMegabyte)) << "no row bounds it";
}

}  // namespace
}  // namespace rematch::rules
