#include "orchestrator/report/plots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "orchestrator/report/model_document.h"
#include "orchestrator/rules/judge.h"
#include "tests/orchestrator/arm_of.h"
#include "tests/orchestrator/report/golden_studies.h"

namespace rematch::report {
namespace {

using tests::GoldenStudy;
using tests::kMegabyte;

Beside beside_of(const GoldenStudy& golden) {
  return {golden.published ? &*golden.published : nullptr, golden.twin ? &*golden.twin : nullptr};
}

struct Reported {
  base::StudyRows study;
  base::StudyVerdict verdict;
  ReportModel model;
};

Reported report_of(const GoldenStudy& golden) {
  const base::StudyVerdict verdict = rules::judge_study(golden.study);
  return {golden.study, verdict, make_report(golden.study, verdict, beside_of(golden))};
}
Reported report_of(const base::StudyRows& study) { return report_of(GoldenStudy{"", study}); }

std::vector<Plot> plots_with_key(const ReportModel& model, const std::string& key) {
  std::vector<Plot> plots;
  std::copy_if(model.plots.begin(), model.plots.end(), std::back_inserter(plots), [&](const Plot& plot) { return plot.key == key; });
  return plots;
}

// Numbers of a column by the row's arm, over all tables of that key; nullopt: the cell is empty.
std::map<std::string, std::optional<double>> column(const ReportModel& model, const std::string& table_key, const std::string& key) {
  std::map<std::string, std::optional<double>> cells;
  for (const Table& table : model.tables) {
    if (table.key != table_key) continue;
    const auto place = [&](const std::string& name) {
      return std::find_if(table.columns.begin(), table.columns.end(), [&](const Column& c) { return c.key == name; }) -
             table.columns.begin();
    };
    const auto wanted = static_cast<std::size_t>(place(key));
    for (const auto& row : table.rows) {
      std::optional<double>& cell = cells[std::get<std::string>(row.at(static_cast<std::size_t>(place("modules"))))];
      if (wanted == table.columns.size()) continue;
      if (const auto* bytes = std::get_if<Bytes>(&row[wanted])) cell = static_cast<double>(bytes->value);
      if (const auto* time = std::get_if<Nanoseconds>(&row[wanted])) cell = time->value;
    }
  }
  return cells;
}

std::string without_outcome(const std::string& label) { return label.substr(0, label.find(" (")); }

std::string arm_in_title(const Plot& plot) {
  const std::size_t colon = plot.title.find(": ");
  return without_outcome(plot.title.substr(colon + 2, plot.title.find(", with ", colon) - colon - 2));
}

class PlotsOfGoldenStudies : public ::testing::TestWithParam<GoldenStudy> {
 protected:
  const Reported reported_ = report_of(GetParam());
  const ReportModel& model_ = reported_.model;
};

TEST_P(PlotsOfGoldenStudies, SetThePeaksOfTheArmsTableAgainstItsTimes) {
  const auto peaks = column(model_, "arms", "peak_allocated_bytes");
  auto times = column(model_, "arms", "step_time_ns");
  for (const auto& [arm, estimate] : column(model_, "arms", "estimated_step_time_ns"))
    if (estimate) times[arm] = estimate;
  std::set<std::string> shown;
  for (const Plot& plot : plots_with_key(model_, "pareto"))
    for (const PlotSeries& series : plot.series) {
      const std::string arm = without_outcome(series.name);
      EXPECT_EQ(series.x.front(), peaks.at(arm)) << arm;
      EXPECT_EQ(series.y.front(), times.at(arm)) << arm;
      EXPECT_EQ(series.is_emphasised, tests::arm_of(reported_.verdict, arm).is_pareto) << arm;
      EXPECT_TRUE(shown.insert(arm).second) << arm;
    }
  for (const auto& [arm, time] : times) EXPECT_EQ(shown.contains(arm), time && peaks.at(arm)) << arm;
}

TEST_P(PlotsOfGoldenStudies, ShowEachRunBesideTheArm) {
  for (const Plot& plot : plots_with_key(model_, "pareto"))
    for (const PlotSeries& series : plot.series) {
      std::multiset<std::pair<double, double>> runs;
      for (const base::RunVerdict& run : reported_.verdict.runs)
        if (run.arm == without_outcome(series.name) && run.outcome == base::Outcome::kPass && run.figures->median_step_time_ns)
          runs.insert({static_cast<double>(run.figures->hot.allocated_bytes), *run.figures->median_step_time_ns});
      std::multiset<std::pair<double, double>> points;
      for (std::size_t i = 1; i < series.x.size(); ++i) points.insert({series.x[i], series.y[i].value()});
      if (runs.size() < 2) runs.clear();  // the arm's own point is the run's
      EXPECT_EQ(points, runs) << series.name;
    }
}

TEST_P(PlotsOfGoldenStudies, StackPartsToTheCellToTheByte) {
  const std::map<std::string, std::string> columns = {{"attribution", "peak_allocated_bytes"},
                                                      {"attribution_out_of_memory", "allocated_bytes"}};
  for (const auto& [key, cell] : columns)
    for (const Plot& plot : plots_with_key(model_, key))
      for (std::size_t bar = 0; bar < plot.categories.size(); ++bar) {
        double sum = 0;
        for (const PlotSeries& part : plot.series) {
          ASSERT_EQ(part.x[bar], static_cast<double>(bar));
          sum += part.y[bar].value_or(0);
        }
        EXPECT_EQ(sum, column(model_, "arms", cell).at(without_outcome(plot.categories[bar]))) << plot.categories[bar];
      }
}

// Rank and phase -> bytes, as a reader of the steps finds them.
std::map<std::pair<std::int64_t, std::string>, double> heights_of(const Plot& plot) {
  std::map<std::pair<std::int64_t, std::string>, double> heights;
  for (const PlotSeries& layer : plot.series) {
    EXPECT_FALSE(layer.y.back()) << "a layer ends";
    for (std::size_t i = 0; i + 1 < layer.x.size(); ++i)
      for (auto rank = static_cast<std::int64_t>(layer.x[i]); layer.y[i] && rank < static_cast<std::int64_t>(layer.x[i + 1]); ++rank)
        heights[{rank, layer.name}] = *layer.y[i];
  }
  return heights;
}

// The table "phases" of a trial's own report.
std::map<std::pair<std::int64_t, std::string>, double> phases_of(const Reported& reported, const std::string& trial_id) {
  std::map<std::pair<std::int64_t, std::string>, double> peaks;
  const ReportModel detail = make_detail_report(reported.study, reported.verdict, trial_id).value();
  for (const Table& table : detail.tables) {
    if (table.key != "phases") continue;
    for (const auto& row : table.rows) {
      const auto value = [&](const std::string& key) {
        const auto found = std::find_if(table.columns.begin(), table.columns.end(), [&](const Column& c) { return c.key == key; });
        return row.at(static_cast<std::size_t>(found - table.columns.begin()));
      };
      peaks[{std::get<Count>(value("rank")).value, std::get<std::string>(value("phase"))}] =
          static_cast<double>(std::get<Bytes>(value("peak_allocated_bytes")).value);
    }
  }
  return peaks;
}

TEST_P(PlotsOfGoldenStudies, HaveThePhasesOfOneRunOfTheArm) {
  std::set<std::string> shown;
  for (const Plot& plot : plots_with_key(model_, "rank_phases")) {
    const std::string arm = arm_in_title(plot);
    shown.insert(arm);
    const auto heights = heights_of(plot);
    const bool is_of_a_run = std::any_of(reported_.verdict.runs.begin(), reported_.verdict.runs.end(), [&](const base::RunVerdict& run) {
      return run.arm == arm && phases_of(reported_, run.trial_id) == heights;
    });
    EXPECT_TRUE(is_of_a_run) << arm;
    double highest = 0;
    for (const auto& [place, height] : heights) highest = std::max(highest, height);
    const auto& figures = tests::arm_of(reported_.verdict, arm).figures;
    EXPECT_EQ(highest, figures ? static_cast<double>(figures->hot.allocated_bytes) : highest) << arm;
  }
  for (const base::ArmVerdict& arm : reported_.verdict.arms)
    EXPECT_EQ(shown.contains(arm.arm), arm.figures || arm.outcome == base::Outcome::kFail) << arm.arm;
}

TEST_P(PlotsOfGoldenStudies, HaveTheStepTimesOfThePassingRuns) {
  std::set<std::string> shown;
  for (const Plot& plot : plots_with_key(model_, "step_times")) {
    const std::string arm = arm_in_title(plot);
    shown.insert(arm);
    std::vector<double> times;
    for (std::size_t i = 0; i < reported_.study.attempts.size(); ++i) {
      const base::AttemptRows& attempt = reported_.study.attempts[i];
      if (attempt.trial.arm != arm || reported_.verdict.runs[i].outcome != base::Outcome::kPass) continue;
      for (std::size_t step = 0; step < attempt.ranks.front().steps.size(); ++step) {
        std::int64_t slowest = 0;
        for (const base::RankRows& rank : attempt.ranks) slowest = std::max(slowest, rank.steps[step].step_time_ns);
        times.push_back(static_cast<double>(slowest));
      }
    }
    std::vector<double> drawn;
    for (const PlotSeries& line : plot.series)
      for (std::size_t i = 0; i < line.x.size(); ++i) {
        EXPECT_EQ(line.x[i], static_cast<double>(drawn.size()));
        drawn.push_back(line.y[i].value());
      }
    EXPECT_EQ(drawn, times) << arm;
  }
  for (const auto& [arm, time] : column(model_, "arms", "step_time_ns")) EXPECT_EQ(shown.contains(arm), time.has_value()) << arm;
}

TEST_P(PlotsOfGoldenStudies, SetBesideWhatTheTablesSetBeside) {
  const auto expect_bars = [&](const std::string& plot_key, const std::string& table, const std::string& own, const std::string& other) {
    const auto own_cells = column(model_, table, own);
    const auto other_cells = column(model_, table, other);
    const auto num_wanted = std::count_if(own_cells.begin(), own_cells.end(), [](const auto& cell) { return cell.second.has_value(); });
    std::ptrdiff_t num_shown = 0;
    for (const Plot& plot : plots_with_key(model_, plot_key)) {
      ASSERT_EQ(plot.series.size(), 2U);
      num_shown += static_cast<std::ptrdiff_t>(plot.categories.size());
      for (std::size_t i = 0; i < plot.categories.size(); ++i) {
        EXPECT_EQ(plot.series[0].y[i], own_cells.at(plot.categories[i]));
        EXPECT_EQ(plot.series[1].y[i], other_cells.at(plot.categories[i]));
      }
      EXPECT_EQ(plot.series[0].name, "predicted");
    }
    EXPECT_EQ(num_shown, num_wanted) << plot_key;
  };
  expect_bars("beside_twin", "twin_arms", "predicted_peak_allocated_bytes", "modelled_device_peak_allocated_bytes");
  expect_bars("beside_published", "published_peaks", "predicted_peak_bytes", "published_peak_bytes");
}

TEST_P(PlotsOfGoldenStudies, HaveNothingOfAnArmThatCarriesNoNumbers) {
  std::set<std::string> silent;
  for (const base::ArmVerdict& arm : reported_.verdict.arms)
    if (!arm.figures && arm.outcome != base::Outcome::kFail) silent.insert(arm.arm);
  for (const Plot& plot : model_.plots) {
    const bool is_of_arm = plot.key == "rank_phases" || plot.key == "step_times";
    EXPECT_FALSE(is_of_arm && silent.contains(arm_in_title(plot))) << plot.title;
    for (const std::string& category : plot.categories) EXPECT_FALSE(silent.contains(without_outcome(category))) << plot.title;
    for (const PlotSeries& series : plot.series) EXPECT_FALSE(!is_of_arm && silent.contains(without_outcome(series.name))) << plot.title;
  }
}

TEST_P(PlotsOfGoldenStudies, AreWholeAndAreKeptAsTheyAre) {
  for (const Plot& plot : model_.plots) {
    EXPECT_FALSE(plot.title.empty() || plot.caption.empty() || plot.series.empty()) << plot.key;
    for (const PlotSeries& series : plot.series) EXPECT_EQ(series.x.size(), series.y.size()) << plot.title;
  }
  const std::string text = plots_text(model_.plots);
  EXPECT_EQ(plots_text(parse_plots(text).value()), text);
}

std::string study_name(const ::testing::TestParamInfo<GoldenStudy>& golden) { return golden.param.name; }

INSTANTIATE_TEST_SUITE_P(All, PlotsOfGoldenStudies, ::testing::ValuesIn(tests::golden_studies()), study_name);

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
  const PlotSeries series = plots_with_key(reported.model, "pareto").at(0).series.at(0);
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
  base::StudyRows study = tests::clean_study().rows();
  EXPECT_FALSE(plots_with_key(report_of(study).model, "step_times").at(1).y.up_to) << "1.4 times the others fits";
  for (base::AttemptRows& attempt : study.attempts)
    for (base::RankRows& rank : attempt.ranks) rank.steps.front().step_time_ns = 2'000'000'000;
  const Plot plot = plots_with_key(report_of(study).model, "step_times").at(1);
  EXPECT_NEAR(plot.y.up_to.value(), 1.1 * 10'402'000, 1);
  EXPECT_EQ(plot.series[0].y[0], 2e9);
  EXPECT_NE(plot.caption.find("its slowest step took 2000.00 ms"), std::string::npos) << plot.caption;
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
