#include "orchestrator/report/plots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "orchestrator/report/model_document.h"
#include "tests/orchestrator/arm_of.h"
#include "tests/orchestrator/report/plots_of.h"

namespace rematch::report {
namespace {

using tests::GoldenStudy;
using tests::heights_of;
using tests::plots_with_key;
using tests::report_of;
using tests::Reported;

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

// Calls `check` with the report of each.
template <typename Check>
void for_each_golden_study(Check check) {
  for (const GoldenStudy& golden : tests::golden_studies()) {
    SCOPED_TRACE(golden.name);
    check(report_of(golden));
  }
}

void expect_pareto(const Reported& reported) {
  const auto peaks = column(reported.model, "arms", "peak_allocated_bytes");
  auto times = column(reported.model, "arms", "step_time_ns");
  for (const auto& [arm, estimate] : column(reported.model, "arms", "estimated_step_time_ns"))
    if (estimate) times[arm] = estimate;
  std::set<std::string> shown;
  for (const Plot& plot : plots_with_key(reported.model, "pareto"))
    for (const PlotSeries& series : plot.series) {
      const std::string arm = without_outcome(series.name);
      EXPECT_EQ(series.x.front(), peaks.at(arm)) << arm;
      EXPECT_EQ(series.y.front(), times.at(arm)) << arm;
      EXPECT_EQ(series.is_emphasised, tests::arm_of(reported.verdict, arm).is_pareto) << arm;
      EXPECT_TRUE(shown.insert(arm).second) << arm;
    }
  for (const auto& [arm, time] : times) EXPECT_EQ(shown.contains(arm), time && peaks.at(arm)) << arm;
}

TEST(PlotsOfGoldenStudies, SetThePeaksOfTheArmsTableAgainstItsTimes) { for_each_golden_study(expect_pareto); }

void expect_runs_in_pareto(const Reported& reported) {
  for (const Plot& plot : plots_with_key(reported.model, "pareto"))
    for (const PlotSeries& series : plot.series) {
      std::multiset<std::pair<double, double>> runs;
      for (const base::RunVerdict& run : reported.verdict.runs)
        if (run.arm == without_outcome(series.name) && run.outcome == base::Outcome::kPass && run.figures->median_step_time_ns)
          runs.insert({static_cast<double>(run.figures->hot.allocated_bytes), *run.figures->median_step_time_ns});
      std::multiset<std::pair<double, double>> points;
      for (std::size_t i = 1; i < series.x.size(); ++i) points.insert({series.x[i], series.y[i].value()});
      if (runs.size() < 2) runs.clear();  // the arm's own point is the run's
      EXPECT_EQ(points, runs) << series.name;
    }
}

TEST(PlotsOfGoldenStudies, ShowEachRunBesideTheArm) { for_each_golden_study(expect_runs_in_pareto); }

void expect_stacks(const Reported& reported) {
  const std::map<std::string, std::string> columns = {{"attribution", "peak_allocated_bytes"},
                                                      {"attribution_out_of_memory", "allocated_bytes"}};
  for (const auto& [key, cell] : columns)
    for (const Plot& plot : plots_with_key(reported.model, key))
      for (std::size_t bar = 0; bar < plot.categories.size(); ++bar) {
        double sum = 0;
        for (const PlotSeries& part : plot.series) {
          ASSERT_EQ(part.x[bar], static_cast<double>(bar));
          sum += part.y[bar].value_or(0);
        }
        EXPECT_EQ(sum, column(reported.model, "arms", cell).at(without_outcome(plot.categories[bar]))) << plot.categories[bar];
      }
}

TEST(PlotsOfGoldenStudies, StackPartsToTheCellToTheByte) { for_each_golden_study(expect_stacks); }

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

void expect_phases(const Reported& reported) {
  std::set<std::string> shown;
  for (const Plot& plot : plots_with_key(reported.model, "rank_phases")) {
    const std::string arm = arm_in_title(plot);
    shown.insert(arm);
    const auto heights = heights_of(plot);
    const bool is_of_a_run = std::any_of(reported.verdict.runs.begin(), reported.verdict.runs.end(), [&](const base::RunVerdict& run) {
      return run.arm == arm && phases_of(reported, run.trial_id) == heights;
    });
    EXPECT_TRUE(is_of_a_run) << arm;
    double highest = 0;
    for (const auto& [place, height] : heights) highest = std::max(highest, height);
    const auto& figures = tests::arm_of(reported.verdict, arm).figures;
    EXPECT_EQ(highest, figures ? static_cast<double>(figures->hot.allocated_bytes) : highest) << arm;
  }
  for (const base::ArmVerdict& arm : reported.verdict.arms)
    EXPECT_EQ(shown.contains(arm.arm), arm.figures || arm.outcome == base::Outcome::kFail) << arm.arm;
}

TEST(PlotsOfGoldenStudies, HaveThePhasesOfOneRunOfTheArm) { for_each_golden_study(expect_phases); }

void expect_step_times(const Reported& reported) {
  std::set<std::string> shown;
  for (const Plot& plot : plots_with_key(reported.model, "step_times")) {
    const std::string arm = arm_in_title(plot);
    shown.insert(arm);
    std::vector<double> times;
    for (std::size_t i = 0; i < reported.study.attempts.size(); ++i) {
      const base::AttemptRows& attempt = reported.study.attempts[i];
      if (attempt.trial.arm != arm || reported.verdict.runs[i].outcome != base::Outcome::kPass) continue;
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
  for (const auto& [arm, time] : column(reported.model, "arms", "step_time_ns")) EXPECT_EQ(shown.contains(arm), time.has_value()) << arm;
}

TEST(PlotsOfGoldenStudies, HaveTheStepTimesOfThePassingRuns) { for_each_golden_study(expect_step_times); }

void expect_beside(const Reported& reported) {
  const auto expect_bars = [&](const std::string& plot_key, const std::string& table, const std::string& own, const std::string& other) {
    const auto own_cells = column(reported.model, table, own);
    const auto other_cells = column(reported.model, table, other);
    const auto num_wanted = std::count_if(own_cells.begin(), own_cells.end(), [](const auto& cell) { return cell.second.has_value(); });
    std::ptrdiff_t num_shown = 0;
    for (const Plot& plot : plots_with_key(reported.model, plot_key)) {
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

TEST(PlotsOfGoldenStudies, SetBesideWhatTheTablesSetBeside) { for_each_golden_study(expect_beside); }

void expect_silence(const Reported& reported) {
  std::set<std::string> silent;
  for (const base::ArmVerdict& arm : reported.verdict.arms)
    if (!arm.figures && arm.outcome != base::Outcome::kFail) silent.insert(arm.arm);
  for (const Plot& plot : reported.model.plots) {
    const bool is_of_arm = plot.key == "rank_phases" || plot.key == "step_times";
    EXPECT_FALSE(is_of_arm && silent.contains(arm_in_title(plot))) << plot.title;
    for (const std::string& category : plot.categories) EXPECT_FALSE(silent.contains(without_outcome(category))) << plot.title;
    for (const PlotSeries& series : plot.series) EXPECT_FALSE(!is_of_arm && silent.contains(without_outcome(series.name))) << plot.title;
  }
}

TEST(PlotsOfGoldenStudies, HaveNothingOfAnArmThatCarriesNoNumbers) { for_each_golden_study(expect_silence); }

void expect_whole(const Reported& reported) {
  for (const Plot& plot : reported.model.plots) {
    EXPECT_FALSE(plot.title.empty() || plot.caption.empty() || plot.series.empty()) << plot.key;
    for (const PlotSeries& series : plot.series) EXPECT_EQ(series.x.size(), series.y.size()) << plot.title;
  }
  const std::string text = plots_text(reported.model.plots);
  EXPECT_EQ(plots_text(parse_plots(text).value()), text);
}

TEST(PlotsOfGoldenStudies, AreWholeAndAreKeptAsTheyAre) { for_each_golden_study(expect_whole); }

}  // namespace
}  // namespace rematch::report
