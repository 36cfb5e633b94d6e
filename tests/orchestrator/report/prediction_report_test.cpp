// The report of a prediction: its assumptions, whom each rank stands for, and no time that a meta device took.
#include <gtest/gtest.h>

#include <algorithm>

#include "orchestrator/report/format.h"
#include "orchestrator/report/moved_table.h"
#include "orchestrator/report/report_model.h"
#include "orchestrator/rules/judge.h"
#include "tests/orchestrator/predicted_study.h"

namespace rematch::report {
namespace {

using tests::kMegabyte;

base::StudyRows study() {
  tests::StudyBuilder builder("predicted", tests::kStagesOfTwo);
  builder.add_arm({"moe_act"});
  builder.add_arm({"core_attn"});
  builder.run_all("[]");
  builder.run_all("moe_act", {.forward_peak_bytes = 800 * kMegabyte, .backward_peak_bytes = 880 * kMegabyte});
  builder.run_out_of_memory("core_attn", protocol::Stage::kWarm, protocol::Phase::kForward, 1, {.failing_rank = 2});
  builder.run_out_of_memory("core_attn", protocol::Stage::kWarm, protocol::Phase::kForward, 1, {.failing_rank = 2});
  return tests::predicted(std::move(builder));
}

ReportModel report() {
  const base::StudyRows rows = study();
  return make_report(rows, rules::judge_study(rows));
}

const Table& table_of(const ReportModel& model, const std::string& key) {
  for (const Table& table : model.tables)
    if (table.key == key) return table;
  throw std::logic_error("no table " + key);
}

std::optional<std::size_t> column_of(const Table& table, const std::string& key) {
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (table.columns[i].key == key) return i;
  return std::nullopt;
}

Cell cell(const Table& table, const std::string& row, const std::string& key) {
  for (const auto& cells : table.rows)
    for (const Cell& each : cells)
      if (const auto* text = std::get_if<std::string>(&each); text && *text == row) return cells.at(column_of(table, key).value());
  throw std::logic_error("no row " + row);
}

TEST(PredictionReport, HasEstimatesInPlaceOfTimes) {
  const ReportModel model = report();
  const Table& arms = table_of(model, "arms");
  for (const char* key : {"step_time_ns", "tflops_per_rank", "time_delta_fraction", "aa_time_difference_fraction", "runs_passed", "runs"})
    EXPECT_FALSE(column_of(arms, key)) << key;
  EXPECT_TRUE(std::holds_alternative<Nanoseconds>(cell(arms, "moe_act", "estimated_step_time_ns")));
  EXPECT_GT(std::get<Nanoseconds>(cell(arms, "moe_act", "estimated_replay_ns")).value, 0);
  EXPECT_GT(std::get<FractionDelta>(cell(arms, "moe_act", "estimated_time_delta_fraction")).value, 0);
  for (const Column& column : arms.columns) {
    const bool is_of_time = column.key.find("time") != std::string::npos || column.key.find("replay") != std::string::npos;
    EXPECT_TRUE(!is_of_time || column.title.find("estimate") != std::string::npos) << column.key;
  }
}

TEST(PredictionReport, SaysPredictedWhereARunWouldPass) {
  const ReportModel model = report();
  const Table& arms = table_of(model, "arms");
  EXPECT_EQ(std::get<std::string>(cell(arms, "moe_act", "outcome")), "predicted pass");
  EXPECT_EQ(std::get<std::string>(cell(arms, "core_attn", "outcome")), "predicted fail");
  EXPECT_TRUE(model.title.ends_with(" (predicted)")) << model.title;
  const auto conclusion = std::find_if(model.header.begin(), model.header.end(), [](const Fact& fact) { return fact.key == "conclusion"; });
  ASSERT_NE(conclusion, model.header.end());
  EXPECT_EQ(std::get<std::string>(conclusion->value), "predicted usable");
}

TEST(PredictionReport, CountsTheOthersThatAreAlikeUnderOneTitleAndWholeClassesUnderAnother) {
  const ReportModel model = report();
  const auto title_of = [](const Table& table, const std::string& key) { return table.columns.at(column_of(table, key).value()).title; };
  EXPECT_EQ(title_of(table_of(model, "arms"), "hot_rank_num_alike"), "others alike");
  EXPECT_EQ(title_of(table_of(model, "failed_arms"), "failure_num_alike"), "others alike");
  EXPECT_EQ(title_of(table_of(model, "rank_classes"), "num_ranks"), "ranks in class");
  base::ArmVerdict arm;
  arm.hot_rank_moved.emplace();
  arm.hot_rank_moved->from.num_alike = 3;
  const Table moved = moved_table(study().plan, {arm});
  const std::size_t column = column_of(moved, "num_alike").value();
  EXPECT_EQ(moved.columns[column].title, "others alike");
  EXPECT_EQ(moved.columns[column].place, Place::kEverywhere);
  EXPECT_EQ(std::get<Count>(moved.rows.at(0).at(column)).value, 3);
  EXPECT_EQ(std::get<Count>(moved.rows.at(1).at(column)).value, 0);
  EXPECT_FALSE(column_of(moved_table(tests::clean_study().rows().plan, {arm}), "num_alike"));
}

TEST(PredictionReport, NamesTheFragmentationAndTheRanksAlike) {
  const ReportModel model = report();
  const Table& arms = table_of(model, "arms");
  EXPECT_EQ(std::get<Bytes>(cell(arms, "moe_act", "fragmentation_bytes")).value, 100 * kMegabyte);
  EXPECT_EQ(std::get<Count>(cell(arms, "moe_act", "hot_rank_num_alike")).value, 1);
  EXPECT_EQ(std::get<Count>(cell(table_of(model, "failed_arms"), "core_attn", "failure_num_alike")).value, 1);
  const Table& classes = table_of(model, "rank_classes");
  ASSERT_EQ(classes.rows.size(), 4U);
  EXPECT_EQ(std::get<std::string>(classes.rows[3][3]), "6-7");
  EXPECT_EQ(std::get<Count>(classes.rows[3][1]).value, 3) << "its place in the pipeline";
}

TEST(PredictionReport, ListsEachAssumptionWithItsOrigin) {
  const ReportModel model = report();
  const Table& assumptions = table_of(model, "assumptions");
  EXPECT_EQ(std::get<Bytes>(cell(assumptions, "device memory", "value")).value, 1100 * kMegabyte);
  EXPECT_EQ(std::get<std::string>(cell(assumptions, "device memory", "origin")), "device table, H100-80GB: data sheet");
  EXPECT_EQ(std::get<Bytes>(cell(assumptions, "capacity of the allocator", "value")).value, 1000 * kMegabyte);
  for (const char* name : {"device", "outside the allocator", "workspaces", "graph pools", "expert load", "cross-entropy gradient",
                           "optimizer bytes", "gradient type", "attention", "gradient accumulation fusion", "shared-expert overlap"})
    EXPECT_FALSE(std::holds_alternative<std::monostate>(cell(assumptions, name, "value"))) << name;
  EXPECT_EQ(std::get<std::string>(cell(assumptions, "CUDA graphs", "value")), "none captured");
  EXPECT_EQ(std::get<std::string>(cell(assumptions, "ranks alike", "value")), "4 of 8 ranks stand for all");
}

TEST(PredictionReport, OfATrialHasNoDurationAndSaysWhomEachRankStandsFor) {
  const base::StudyRows rows = study();
  const ReportModel model = make_detail_report(rows, rules::judge_study(rows), "moe_act").value();
  const auto all_empty = [&](const std::string& table_key, const std::string& key) {
    const Table& table = table_of(model, table_key);
    const std::size_t column = column_of(table, key).value();
    return !table.rows.empty() && std::all_of(table.rows.begin(), table.rows.end(),
                                              [&](const auto& cells) { return std::holds_alternative<std::monostate>(cells[column]); });
  };
  EXPECT_TRUE(all_empty("steps", "step_time_ns"));
  EXPECT_TRUE(all_empty("steps", "loss"));
  EXPECT_TRUE(all_empty("stages", "duration_ns"));
  EXPECT_TRUE(all_empty("phases", "longest_duration_ns"));
  EXPECT_TRUE(all_empty("communication", "duration_ns"));
  EXPECT_TRUE(all_empty("runs", "step_time_ns"));
  EXPECT_TRUE(all_empty("runs", "first_steady_step"));
  const Table& ranks = table_of(model, "ranks");
  ASSERT_EQ(ranks.rows.size(), 4U);
  EXPECT_EQ(std::get<Count>(ranks.rows[3].at(column_of(ranks, "rank").value())).value, 6);
  for (const char* key : {"ranks", "phases", "stages", "steps"}) {
    const Table& table = table_of(model, key);
    for (const auto& cells : table.rows) EXPECT_EQ(std::get<Count>(cells.at(column_of(table, "num_alike").value())).value, 1) << key;
  }
}

TEST(PredictionReport, LeavesMeasuredStudiesAsTheyAre) {
  const base::StudyRows rows = tests::clean_study().rows();
  const ReportModel model = make_report(rows, rules::judge_study(rows));
  const Table& arms = table_of(model, "arms");
  EXPECT_TRUE(column_of(arms, "step_time_ns"));
  for (const char* key : {"estimated_step_time_ns", "fragmentation_bytes", "hot_rank_num_alike"}) EXPECT_FALSE(column_of(arms, key)) << key;
  for (const Table& table : model.tables) EXPECT_NE(table.key, "assumptions");
}

}  // namespace
}  // namespace rematch::report
