#include "orchestrator/rules/run_figures.h"

#include <gtest/gtest.h>

#include "tests/orchestrator/study_builder.h"

namespace rematch::rules {
namespace {

TEST(RunFigures, GivesOtherViewsOfTheStepTimesBesideTheMedian) {
  const base::RunFigures figures = run_figures(tests::clean_study().rows().attempts.front());
  // Steps take 10 ms and 0, 1 or 2 us in turns; step 0 takes longer and is not steady.
  EXPECT_GE(figures.first_steady_step, 2);
  EXPECT_NEAR(*figures.means.mean_step_time_ns, 10'001'000, 200);
  EXPECT_NEAR(*figures.means.window_step_time_ns, 10'001'000, 1) << "steps 10 to 19: 1, 2, 0, ... 1";
  EXPECT_NEAR(*figures.means.tflops_of_mean_time, 4e9 / 10.001e-3 / 2 * 1e-12, 1e-5);
  EXPECT_GT(*figures.means.tflops_mean_over_steps, *figures.means.tflops_of_mean_time);
  EXPECT_LT(*figures.means.tflops_mean_over_steps, *figures.means.tflops_of_mean_time * 1.0001);
}

TEST(RunFigures, HaveNoWindowOfFewerThanTwentySteps) {
  base::AttemptRows run = tests::clean_study().rows().attempts.front();
  run.ranks.front().steps.resize(19);
  EXPECT_EQ(run_figures(run).means.window_step_time_ns, std::nullopt);
  EXPECT_TRUE(run_figures(run).means.mean_step_time_ns);
}

TEST(RunFigures, KeepTheEvidenceOfThePlateauOfTheRankNearestToItsAllowance) {
  base::AttemptRows run = tests::clean_study().rows().attempts.front();
  run.ranks.back().steps.back().lifetime_peak_allocated_bytes += 1000;
  const base::RunFigures figures = run_figures(run);
  EXPECT_EQ(figures.peak_growth_bytes, 1000) << "of rank 1, which may grow by 0.5 % of 950 MB";
  EXPECT_EQ(figures.peak_growth_allowed_bytes, 950 * tests::kMegabyte / 200);
}

}  // namespace
}  // namespace rematch::rules
