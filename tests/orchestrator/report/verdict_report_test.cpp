// Verdicts on time and memory in reports: the word and its numbers in every format.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "orchestrator/report/format.h"
#include "orchestrator/report/verdict_text.h"
#include "orchestrator/rules/judge.h"
#include "tests/orchestrator/arm_of.h"
#include "tests/orchestrator/study_builder.h"

namespace rematch::report {
namespace {

std::string rendered(const base::StudyRows& study, const std::string& format) {
  return render(make_report(study, rules::judge_study(study)), format).value();
}

// The rows of a table of data; null when there is no such table.
nlohmann::json rows_of(const base::StudyRows& study, const std::string& key) {
  const auto document = nlohmann::json::parse(rendered(study, "json"));
  for (const auto& table : document.at("tables"))
    if (table.at("key") == key) return table.at("rows");
  return nullptr;
}

nlohmann::json row_of(const base::StudyRows& study, const std::string& arm) {
  for (const auto& row : rows_of(study, "arms"))
    if (row.at("modules") == arm) return row;
  return nullptr;
}

// Two blocks, controls 1 % apart: an effect of 2 % is not decided.
TEST(VerdictReport, ShowsAnUndecidedArmAsSuchInEveryFormat) {
  const base::StudyRows study = tests::clean_study().rows();
  const base::TimeVerdict time = tests::arm_of(rules::judge_study(study), "moe_act").effect->time.value();
  ASSERT_EQ(time.word, base::TimeWord::kUndecided);
  const std::string text = rendered(study, "md");
  EXPECT_NE(text.find("] undecided, wants " + std::to_string(*time.blocks_needed) + " blocks |"), std::string::npos) << text;
  EXPECT_NE(rendered(study, "csv").find(",undecided,"), std::string::npos);
  const nlohmann::json row = row_of(study, "moe_act");
  EXPECT_EQ(row.at("time_verdict"), "undecided");
  EXPECT_EQ(row.at("blocks_needed"), *time.blocks_needed);
  EXPECT_NEAR(row.at("time_low_fraction").get<double>(), time.low, 1e-9);
  EXPECT_EQ(row.at("memory_verdict"), "lower");
  EXPECT_TRUE(row.at("memory_low_bytes").is_null());
}

TEST(VerdictReport, SaysWhatTheIntervalsRestOn) {
  const base::StudyRows study = tests::clean_study().rows();
  const base::TimeFit fit = rules::judge_study(study).groups.front().fit.value();
  EXPECT_NE(rendered(study, "md").find("noise of a run 0."), std::string::npos) << rendered(study, "md");
  EXPECT_NE(rendered(study, "md").find("A/A floor 1.00 %"), std::string::npos);
  EXPECT_NEAR(rows_of(study, "time_fits").at(0).at("critical_value").get<double>(), fit.critical_value, 1e-7);
}

TEST(VerdictReport, ShowsThePlainRatioWhereThereIsNoInterval) {
  tests::StudyBuilder builder("short");
  builder.add_arm({"moe_act"});
  builder.run("[]");
  builder.run("[]");
  builder.run("moe_act", {.step_time_ns = 10'300'000});
  const std::string text = rendered(builder.rows(), "md");
  EXPECT_NE(text.find("+3.00 %"), std::string::npos) << text;
  EXPECT_EQ(text.find("[interval]"), std::string::npos);
  EXPECT_TRUE(row_of(builder.rows(), "moe_act").at("time_verdict").is_null());
}

TEST(VerdictText, HasTheNumbersTheWordAndTheBlocks) {
  EXPECT_EQ(time_text({.fraction = 0.031, .low = 0.019, .high = 0.043, .word = base::TimeWord::kSlower}), "+3.1 % [+1.9, +4.3] slower");
  EXPECT_EQ(time_text({.fraction = 0.01, .low = -0.006, .high = 0.026, .word = base::TimeWord::kUndecided, .blocks_needed = 5}),
            "+1.0 % [-0.6, +2.6] undecided, wants 5 blocks");
}

}  // namespace
}  // namespace rematch::report
