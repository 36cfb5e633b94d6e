#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "orchestrator/report/model_document.h"
#include "orchestrator/report/thin_line.h"
#include "tests/orchestrator/predicted_study.h"
#include "tests/orchestrator/report/plots_of.h"

namespace rematch::report {
namespace {

using tests::heights_of;
using tests::kMegabyte;
using tests::plots_with_key;
using tests::report_of;
using tests::Reported;

TEST(Plots, AreThoseOfTheStudysKind) {
  const auto count = [](const base::StudyRows& study, const std::string& key) {
    return plots_with_key(report_of(study).model, key).size();
  };
  EXPECT_TRUE(report_of(tests::empty_study()).model.plots.empty());
  const base::StudyRows clean = tests::clean_study().rows();
  EXPECT_EQ(count(clean, "pareto"), 1U);
  EXPECT_EQ(count(clean, "rank_phases"), 3U);
  EXPECT_EQ(count(clean, "step_times"), 3U);
  EXPECT_EQ(count(clean, "attribution"), 1U);
  EXPECT_EQ(count(clean, "attribution_out_of_memory"), 0U);
  const base::StudyRows capacity = tests::capacity_study().rows();
  EXPECT_EQ(count(capacity, "rank_phases"), 5U) << "of failed arms too";
  EXPECT_EQ(count(capacity, "step_times"), 2U) << "of passing arms alone";
  EXPECT_EQ(count(capacity, "attribution_out_of_memory"), 1U);
  const Reported simulated = report_of(tests::simulated_study());
  EXPECT_EQ(plots_with_key(simulated.model, "beside_twin").size(), 1U);
  EXPECT_EQ(plots_with_key(simulated.model, "beside_published").size(), 1U);
  EXPECT_EQ(plots_with_key(simulated.model, "step_times").size(), 0U) << "nobody took a step";
}

TEST(Plots, NeverMixTwoProvenances) {
  base::StudyRows study = tests::clean_study().rows();
  for (base::AttemptRows& run : study.attempts)
    if (run.trial.arm == "moe_act")
      for (base::RankRows& rank : run.ranks) rank.hello->provenance = protocol::Provenance::kMeasured;
  const ReportModel model = report_of(study).model;
  for (const char* key : {"pareto", "attribution"}) {
    const std::vector<Plot> plots = plots_with_key(model, key);
    ASSERT_EQ(plots.size(), 2U) << key;
    EXPECT_TRUE(plots[0].caption.ends_with("Figures are modelled-device.")) << plots[0].caption;
    EXPECT_TRUE(plots[1].caption.ends_with("Figures are measured.")) << plots[1].caption;
  }
  EXPECT_EQ(plots_with_key(model, "pareto")[1].series.size(), 1U);
}

TEST(Plots, SayOfAFailedArmHowFarItGot) {
  const std::vector<Plot> plots = plots_with_key(report_of(tests::capacity_study().rows()).model, "rank_phases");
  EXPECT_EQ(plots[0].title, "Peaks by rank and phase: [] (fail)");
  EXPECT_NE(plots[0].caption.find("not a pass. It failed in warm of step 1, forward, on rank 0."), std::string::npos) << plots[0].caption;
}

TEST(Plots, ShowOfABorderlineArmTheRunsThatPassed) {
  tests::StudyBuilder builder("borderline");
  builder.add_arm({"moe_act"});
  builder.run_all("[]");
  builder.run_out_of_memory("moe_act", protocol::Stage::kSteady, protocol::Phase::kBackward, 9, {.backward_peak_bytes = 990 * kMegabyte});
  builder.run("moe_act", {.backward_peak_bytes = 950 * kMegabyte});
  const ReportModel model = report_of(builder.rows()).model;
  const PlotSeries point = plots_with_key(model, "pareto").at(0).series.at(1);
  EXPECT_EQ(point.name, "moe_act (borderline)");
  EXPECT_EQ(point.x, (std::vector<double>{950 * kMegabyte}));
  EXPECT_FALSE(point.is_emphasised);
  EXPECT_EQ(heights_of(plots_with_key(model, "rank_phases").at(1)).at({0, "backward"}), 950 * kMegabyte);
  const Plot times = plots_with_key(model, "step_times").at(1);
  ASSERT_EQ(times.series.size(), 1U);
  EXPECT_EQ(times.series[0].name, "block 1, slot 2");
  EXPECT_EQ(plots_with_key(model, "attribution").at(0).categories.at(1), "moe_act (borderline)");
  EXPECT_TRUE(plots_with_key(model, "attribution_out_of_memory").empty());
}

TEST(ThinLine, KeepsTheLowestAndTheHighestOfEachBucketInTheirOrder) {
  const std::vector<LinePoint> points = {{0, 5}, {1, 9}, {2, 1}, {3, 4}, {4, 4}, {5, 4}, {6, 2}, {7, 3}};
  std::vector<double> places;
  for (const LinePoint& point : thinned(points, 3)) places.push_back(point.x);
  EXPECT_EQ(places, (std::vector<double>{0, 1, 2, 4, 5, 6})) << "buckets of 2, 3 and 3";
  EXPECT_EQ(thinned(points, 4).size(), points.size()) << "nothing to leave out";
  EXPECT_TRUE(thinned({}, 1).empty());
}

TEST(ParetoPlot, MarksTheBudget) {
  const Plot plot = plots_with_key(report_of(tests::capacity_study().rows()).model, "pareto").at(0);
  ASSERT_EQ(plot.marks.size(), 1U);
  EXPECT_EQ(plot.marks[0].at, 800 * kMegabyte);
  EXPECT_TRUE(plots_with_key(report_of(tests::clean_study().rows()).model, "pareto").at(0).marks.empty());
}

base::StudyRows long_study(std::int64_t num_blocks) {
  tests::StudyBuilder builder("long");
  builder.plan().num_blocks = num_blocks;
  builder.add_arm({"moe_act"});
  for (std::int64_t i = 0; i < num_blocks; ++i)
    builder.run("moe_act", {.backward_peak_bytes = (900 + i % 7) * kMegabyte, .step_time_ns = 10'000'000 + 1000 * (i * 37 % num_blocks)});
  return builder.rows();
}

TEST(ParetoPlot, KeepsTheExtremesOfMoreRunsThanItDraws) {
  const Reported reported = report_of(long_study(100));
  const Plot plot = plots_with_key(reported.model, "pareto").at(0);
  EXPECT_NE(plot.caption.find("single runs, of an arm at most 60 with its extremes among them."), std::string::npos) << plot.caption;
  const PlotSeries& series = plot.series.at(0);
  EXPECT_LE(series.x.size(), 61U);
  EXPECT_GE(series.x.size(), 40U);
  std::vector<double> times;
  std::vector<double> peaks;
  for (const base::RunVerdict& run : reported.verdict.runs) {
    times.push_back(*run.figures->median_step_time_ns);
    peaks.push_back(static_cast<double>(run.figures->hot.allocated_bytes));
  }
  EXPECT_EQ(*std::min_element(series.x.begin() + 1, series.x.end()), *std::min_element(peaks.begin(), peaks.end()));
  EXPECT_EQ(*std::max_element(series.x.begin() + 1, series.x.end()), *std::max_element(peaks.begin(), peaks.end()));
  EXPECT_EQ(*std::min_element(series.y.begin() + 1, series.y.end()), *std::min_element(times.begin(), times.end()));
  EXPECT_EQ(*std::max_element(series.y.begin() + 1, series.y.end()), *std::max_element(times.begin(), times.end()));
}

TEST(StepTimesPlot, MarksBlocksAndTheEndOfWarmup) {
  const Reported reported = report_of(tests::clean_study().rows());
  const Plot plot = plots_with_key(reported.model, "step_times").at(0);
  ASSERT_EQ(plot.series.size(), 4U);
  EXPECT_EQ(plot.series[1].name, "block 0, slot 1");
  std::vector<double> blocks;
  std::vector<double> warmups;
  for (const PlotMark& mark : plot.marks) (mark.label.starts_with("block") ? blocks : warmups).push_back(mark.at);
  EXPECT_EQ(blocks, (std::vector<double>{0, 40}));
  std::vector<double> wanted;
  for (std::size_t i = 0, run = 0; i < reported.study.attempts.size(); ++i)
    if (reported.study.attempts[i].trial.arm == "[]")
      wanted.push_back(static_cast<double>(20 * run++) + static_cast<double>(reported.verdict.runs[i].figures->first_steady_step));
  EXPECT_EQ(warmups, wanted);
}

TEST(StepTimesPlot, LetsSlowWarmupLeaveAtTheTopAndSaysSo) {
  base::StudyRows study = tests::clean_study().rows();  // every run of core_attn takes 10.400 to 10.402 ms, its first step 5 ms more
  const auto first_steps_take = [&](std::int64_t time_ns) {
    for (base::AttemptRows& attempt : study.attempts)
      for (base::RankRows& rank : attempt.ranks) rank.steps.front().step_time_ns = time_ns;
    return plots_with_key(report_of(study).model, "step_times").at(1);
  };
  const Plot far_above = first_steps_take(2'000'000'000);
  EXPECT_NEAR(far_above.y.up_to.value(), 1.025 * 10'402'000, 1);
  EXPECT_EQ(far_above.series[0].y[0], 2e9);
  EXPECT_NE(far_above.caption.find("its slowest step took 2000.00 ms"), std::string::npos) << far_above.caption;
  const Plot near = first_steps_take(11'400'000);
  EXPECT_FALSE(near.y.up_to);
  EXPECT_EQ(near.caption.find("leaves the plot"), std::string::npos) << near.caption;
  EXPECT_TRUE(first_steps_take(11'500'000).y.up_to);
}

TEST(StepTimesPlot, HasRoomForEverySteadyStep) {
  base::StudyRows study = tests::clean_study().rows();
  for (base::AttemptRows& attempt : study.attempts)
    for (base::RankRows& rank : attempt.ranks) {
      rank.steps.front().step_time_ns = 2'000'000'000;
      rank.steps[15].step_time_ns = 30'000'000;
    }
  const Plot plot = plots_with_key(report_of(study).model, "step_times").at(1);
  EXPECT_NEAR(plot.y.up_to.value(), 30e6 + (30e6 - 10.4e6) / 2, 1);
}

TEST(StepTimesPlot, BoundsItsPointsAndKeepsEveryExtreme) {
  base::StudyRows study = long_study(100);
  study.attempts[50].ranks[0].steps[12].step_time_ns = 77'000'000;
  study.attempts[70].ranks[0].steps[3].step_time_ns = study.attempts[70].ranks[1].steps[3].step_time_ns = 5'000'000;
  const Plot plot = plots_with_key(report_of(study).model, "step_times").at(0);
  ASSERT_EQ(plot.series.size(), 1U);
  EXPECT_EQ(plot.series[0].name, "100 runs");
  EXPECT_LE(plot.series[0].x.size(), 600U);
  EXPECT_TRUE(std::is_sorted(plot.series[0].x.begin(), plot.series[0].x.end()));
  EXPECT_EQ(*std::max_element(plot.series[0].y.begin(), plot.series[0].y.end()), 77e6);
  EXPECT_EQ(*std::min_element(plot.series[0].y.begin(), plot.series[0].y.end()), 5e6);
  EXPECT_LE(plot.marks.size(), 12U);
  EXPECT_NE(plot.caption.find("Of 2000 steps the fastest and the slowest"), std::string::npos) << plot.caption;
}

TEST(RankPhasesPlot, GivesRanksThatWereNotRunThePeaksOfTheOneAlike) {
  tests::StudyBuilder builder("stages", tests::kStagesOfTwo);
  builder.run_all("[]", {.extra_bytes = {{2, 7 * kMegabyte}}});
  const Reported reported = report_of(tests::predicted(builder));
  const auto heights = heights_of(plots_with_key(reported.model, "rank_phases").at(0));
  std::set<std::int64_t> ranks;
  for (const auto& [place, height] : heights) ranks.insert(place.first);
  EXPECT_EQ(ranks.size(), 8U);
  EXPECT_EQ(heights.at({3, "backward"}), 1007 * kMegabyte);
  EXPECT_EQ(heights.at({0, "backward"}), heights.at({1, "backward"}));
}

TEST(RankPhasesPlot, LeavesAGapWhereARankHasNoRecord) {
  tests::StudyBuilder builder("gap", {.world_size = 4});
  base::AttemptRows& run = builder.run_out_of_memory("[]", protocol::Stage::kWarm, protocol::Phase::kForward, 1);
  run.ranks[1].steps.clear();
  run.ranks[1].model.reset();
  const auto heights = heights_of(plots_with_key(report_of(builder.rows()).model, "rank_phases").at(0));
  EXPECT_TRUE(heights.contains({0, "backward"}));
  EXPECT_FALSE(heights.contains({1, "backward"}));
  EXPECT_TRUE(heights.contains({2, "backward"}));
}

TEST(RankPhasesPlot, StaysSmallForManyRanks) {
  constexpr std::int64_t kRanks = 512;
  constexpr std::size_t kMostBytesOfArm = 40'000;  // 64 arms: 2.6 MB
  tests::RunShape shape{.num_steps = 1};
  for (std::int64_t rank = 0; rank < kRanks; ++rank) shape.extra_bytes[rank] = rank * 1'234'567;
  tests::StudyBuilder builder("many", {.world_size = kRanks});
  builder.run_out_of_memory("[]", protocol::Stage::kWarm, protocol::Phase::kForward, 1, shape);
  const std::vector<Plot> different = plots_with_key(report_of(builder.rows()).model, "rank_phases");
  ASSERT_EQ(different.size(), 1U);
  EXPECT_EQ(heights_of(different[0]).size(), 4U * kRanks);
  EXPECT_LE(plots_text(different).size(), kMostBytesOfArm);
  RecordProperty("bytes_of_arm", static_cast<int>(plots_text(different).size()));
}

TEST(AttributionPlot, JoinsPartsTooSmallToBeSeen) {
  tests::StudyBuilder builder("small");
  builder.run_all("[]");
  for (base::AttemptRows& attempt : builder.rows().attempts)
    for (protocol::StepRecord& step : attempt.ranks[0].steps) {
      step.peak_attribution->front().bytes -= 3 * kMegabyte;
      step.peak_attribution->push_back({protocol::Role::kCommunication, "", kMegabyte});
      step.peak_attribution->push_back({protocol::Role::kTemporaries, "", 2 * kMegabyte});
    }
  const Plot plot = plots_with_key(report_of(builder.rows()).model, "attribution").at(0);
  EXPECT_EQ(plot.series.back().name, "2 parts below 1 % of every bar");
  EXPECT_EQ(plot.series.back().y[0], 3 * kMegabyte);
  EXPECT_EQ(plot.series.front().name, "parameters");
}

TEST(AttributionPlot, HasNoBarOfAPeakThatItDoesNotAddUpTo) {
  base::StudyRows study = tests::clean_study().rows();
  for (base::AttemptRows& attempt : study.attempts)
    if (attempt.trial.arm == "core_attn") attempt.ranks[0].model->phases[protocol::Phase::kBuild].peak_allocated_bytes = 2000 * kMegabyte;
  const Plot plot = plots_with_key(report_of(study).model, "attribution").at(0);
  EXPECT_EQ(plot.categories, (std::vector<std::string>{"[]", "moe_act"}));
  EXPECT_NE(plot.caption.find("Not measured of core_attn."), std::string::npos) << plot.caption;
}

}  // namespace
}  // namespace rematch::report
