// When reserved memory that nobody uses is fragmentation, and when it is only a cache.
#include "orchestrator/rules/fragmentation.h"

#include <gtest/gtest.h>

#include "tests/orchestrator/study_builder.h"

namespace rematch::rules {
namespace {

using protocol::Phase;
using protocol::Stage;
using tests::kMegabyte;

struct Failure {
  std::string name;
  std::int64_t allocated_mb;
  std::int64_t reserved_mb;
  std::int64_t requested_mb;
  std::int64_t largest_free_mb;
  bool fires;
};

void PrintTo(const Failure& failure, std::ostream* out) { *out << failure.name; }

class AFailedRequest : public ::testing::TestWithParam<Failure> {};

TEST_P(AFailedRequest, IsFragmentationWhereItsBytesWereFreeInPieces) {
  tests::StudyBuilder builder("failed");
  base::AttemptRows& run = builder.run_out_of_memory("[]", Stage::kWarm, Phase::kForward, 1);
  protocol::OomRecord& oom = *run.ranks[0].oom;
  oom.allocated_bytes = GetParam().allocated_mb * kMegabyte;
  oom.reserved_bytes = GetParam().reserved_mb * kMegabyte;
  oom.requested_bytes = GetParam().requested_mb * kMegabyte;
  oom.largest_free_block_bytes = GetParam().largest_free_mb * kMegabyte;
  oom.num_alloc_retries = 3;
  const auto sign = fragmentation_sign(builder.rows(), "[]");
  ASSERT_EQ(sign.has_value(), GetParam().fires);
  if (!sign) return;
  EXPECT_EQ(sign->requested_bytes, GetParam().requested_mb * kMegabyte);
  EXPECT_EQ(sign->reserved_bytes - sign->allocated_bytes, (GetParam().reserved_mb - GetParam().allocated_mb) * kMegabyte);
  EXPECT_EQ(sign->num_alloc_retries, 3);
  EXPECT_EQ(sign->step, 1);
}

INSTANTIATE_TEST_SUITE_P(Cases, AFailedRequest,
                         ::testing::Values(Failure{"free in pieces", 700, 950, 200, 90, true},
                                           Failure{"just enough is free in pieces", 750, 950, 200, 199, true},
                                           Failure{"a byte too few are free", 751, 950, 200, 90, false},
                                           Failure{"a block was large enough", 700, 950, 200, 200, false},
                                           Failure{"all is allocated", 940, 950, 200, 5, false}));

// Twenty steps with a peak of 600 of `reserved_mb`, and retries that grow by `retries` in the steady steps.
base::StudyRows steady_study(std::int64_t reserved_mb, std::int64_t retries, std::int64_t warmup_retries = 0) {
  tests::StudyBuilder builder("steady");
  base::AttemptRows& run = builder.run("[]");
  for (protocol::StepRecord& step : run.ranks[1].steps) {
    step.lifetime_peak_allocated_bytes = 600 * kMegabyte;
    step.lifetime_peak_reserved_bytes = reserved_mb * kMegabyte;
    step.num_alloc_retries = step.step < 2 ? warmup_retries : warmup_retries + (step.step > 10 ? retries : 0);
    step.largest_free_block_bytes = 40 * kMegabyte;
  }
  return builder.rows();
}

TEST(FragmentationSign, IsAHighReserveWithRetriesAfterWarmUp) {
  const auto sign = fragmentation_sign(steady_study(900, 4), "[]");
  ASSERT_TRUE(sign);
  EXPECT_EQ(sign->rank, 1);
  EXPECT_EQ(sign->num_alloc_retries, 4);
  EXPECT_EQ(sign->allocated_bytes, 600 * kMegabyte);
  EXPECT_EQ(sign->reserved_bytes, 900 * kMegabyte);
  EXPECT_EQ(sign->largest_free_block_bytes, 40 * kMegabyte);
  EXPECT_EQ(sign->growth_bytes, 0);
  EXPECT_FALSE(sign->requested_bytes);
}

TEST(FragmentationSign, IsNoCacheThatWasInNobodysWay) {
  EXPECT_FALSE(fragmentation_sign(steady_study(900, 0), "[]")) << "no retry";
  EXPECT_FALSE(fragmentation_sign(steady_study(900, 0, 3), "[]")) << "retries of the warm-up alone";
  EXPECT_FALSE(fragmentation_sign(steady_study(655, 4), "[]")) << "as little as the published 40 of 36.6 GB";
}

TEST(FragmentationSign, IsNotSaidOfAllocatedBytesThatStillGrow) {
  base::StudyRows study = steady_study(900, 4);
  study.attempts[0].ranks[1].steps.back().lifetime_peak_allocated_bytes += 10 * kMegabyte;
  EXPECT_FALSE(fragmentation_sign(study, "[]"));
}

TEST(FragmentationSign, IsNotSaidOfAnArmWithoutARun) {
  tests::StudyBuilder builder("none");
  EXPECT_FALSE(fragmentation_sign(builder.rows(), "[]"));
  base::AttemptRows& run = builder.run_out_of_memory("[]", Stage::kWarm, Phase::kForward, 1);
  run.ranks[0].oom.reset();
  EXPECT_FALSE(fragmentation_sign(builder.rows(), "[]")) << "the rank left no evidence";
}

}  // namespace
}  // namespace rematch::rules
