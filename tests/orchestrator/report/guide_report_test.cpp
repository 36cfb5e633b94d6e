// Studies in the form of the guide's tables. reports/golden/guide_*.md and .tex are written by REMATCH_UPDATE_GOLDEN=1.
#include "orchestrator/report/guide_report.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "orchestrator/report/format.h"
#include "orchestrator/rules/judge.h"
#include "schemas/protocol/record_file.h"
#include "tests/orchestrator/predicted_study.h"
#include "tests/orchestrator/study_builder.h"

namespace rematch::report {
namespace {

using nlohmann::json;
using tests::kMegabyte;

ReportModel guide_of(const base::StudyRows& study) { return make_guide_report(study, rules::judge_study(study)); }

json table_of_guide(const base::StudyRows& study, std::size_t index = 0) {
  return json::parse(render(guide_of(study), "json").value())["tables"].at(index);
}

json row_of(const json& table, const std::string& modules) {
  for (const json& row : table["rows"])
    if (row["modules"] == modules) return row;
  ADD_FAILURE() << "no row of " << modules;
  return {};
}

bool has_note(const ReportModel& model, const std::string& part) {
  for (const std::string& note : model.notes)
    if (note.find(part) != std::string::npos) return true;
  return false;
}

void set_measured(base::StudyRows& study) {
  for (base::AttemptRows& attempt : study.attempts)
    for (base::RankRows& rank : attempt.ranks) rank.hello->provenance = protocol::Provenance::kMeasured;
}

TEST(GuideReport, MatchedRowsHaveTheViewOfThePublishedTable) {
  tests::StudyBuilder builder = tests::clean_study();
  for (base::AttemptRows& attempt : builder.rows().attempts) {
    attempt.ranks[1].steps[0].phases[protocol::Phase::kBackward].peak_allocated_bytes =
        2000 * kMegabyte;  // a rank that the source does not see
    attempt.ranks[0].steps[5].phases[protocol::Phase::kBackward].peak_allocated_bytes = 3000 * kMegabyte;  // after its last look
  }
  const json table = table_of_guide(builder.rows());
  EXPECT_EQ(table["key"], "guide_matched");
  const json control = row_of(table, "[]");
  EXPECT_EQ(control["modelled_device_peak_allocated_bytes"], 1000 * kMegabyte) << "rank 0 alone, after iteration 2";
  EXPECT_TRUE(control["modelled_device_peak_delta_fraction"].is_null());
  const json candidate = row_of(table, "moe_act");
  EXPECT_EQ(candidate["modelled_device_peak_allocated_bytes"], 880 * kMegabyte);
  EXPECT_DOUBLE_EQ(candidate["modelled_device_peak_delta_fraction"], -0.12);
  const double mean_ns = 10'200'000 + 1000.0 * (1 + 2 + 0 + 1 + 2 + 0 + 1 + 2 + 0 + 1) / 10;  // of the steps 10 to 19
  EXPECT_DOUBLE_EQ(candidate["modelled_device_window_step_time_ns"], mean_ns);
  EXPECT_NEAR(candidate["modelled_device_window_tflops_per_rank"], 4e9 / (mean_ns * 1e-9) / 2 * 1e-12, 1e-6);
  EXPECT_GT(candidate["modelled_device_window_tflops_per_rank"], 4e9 / (mean_ns * 1e-9) / 2 * 1e-12) << "the mean of the steps' values";
  EXPECT_TRUE(row_of(table, "gdn_norm_out")["modelled_device_peak_allocated_bytes"].is_null());
  EXPECT_EQ(row_of(table, "gdn_norm_out")["modelled_device_result"], "inactive");
}

TEST(GuideReport, HeadingsSayWhereFiguresComeFromUnlessTheyAreMeasured) {
  base::StudyRows study = tests::clean_study().rows();
  EXPECT_NE(render(guide_of(study), "md").value().find("| modelled-device Peak allocated (GB) |"), std::string::npos);
  set_measured(study);
  const std::string text = render(guide_of(study), "md").value();
  EXPECT_NE(text.find("| Peak allocated (GB) | Step time (ms) | TFLOP/s/GPU | Allocated against [] | Time against [] |"), std::string::npos)
      << text;
  EXPECT_NE(text.find("1.000 |"), std::string::npos);
  EXPECT_NE(text.find("| control "), std::string::npos);
}

TEST(GuideReport, TwoProvenancesNeverShareATable) {
  base::StudyRows study = tests::clean_study().rows();
  for (base::AttemptRows& run : study.attempts)
    if (run.trial.arm == "moe_act")
      for (base::RankRows& rank : run.ranks) rank.hello->provenance = protocol::Provenance::kMeasured;
  EXPECT_EQ(table_of_guide(study, 0)["rows"].size(), 3U);
  const json measured = table_of_guide(study, 1);
  ASSERT_EQ(measured["rows"].size(), 1U);
  EXPECT_TRUE(measured["rows"][0].contains("measured_peak_allocated_bytes"));
  EXPECT_TRUE(measured["rows"][0]["measured_peak_delta_fraction"].is_null()) << "there is no control of its kind";
}

TEST(GuideReport, RunsThatAreTooShortForTheWindowHaveNoTimesAndANoteSaysWhy) {
  tests::StudyBuilder builder("short");
  for (protocol::Trial& trial : builder.plan().trials) trial.training.train_iters = 15;
  builder.run_all("[]", {.num_steps = 15});
  const ReportModel model = guide_of(builder.rows());
  const json control = row_of(table_of_guide(builder.rows()), "[]");
  EXPECT_FALSE(control["modelled_device_peak_allocated_bytes"].is_null());
  EXPECT_TRUE(control["modelled_device_window_step_time_ns"].is_null());
  EXPECT_TRUE(control["modelled_device_window_tflops_per_rank"].is_null());
  EXPECT_TRUE(has_note(model, "runs of 15 iterations are too short for the mean over iterations 11 to 20"));
}

TEST(GuideReport, WhenTheControlDoesNotFitFailedRowsAreSetAgainstItOnlyWhereBothCompletedAnIteration) {
  const json table = table_of_guide(tests::capacity_study().rows());
  EXPECT_EQ(table["key"], "guide_capacity");
  const json control = row_of(table, "[]");
  EXPECT_EQ(control["modelled_device_result"], "OOM after iteration 1");
  EXPECT_EQ(control["modelled_device_rank_0_peak_allocated_bytes"], 1000 * kMegabyte);
  const json none = row_of(table, "core_attn");
  EXPECT_EQ(none["modelled_device_result"], "OOM in iteration 1");
  EXPECT_EQ(none["against"], "not comparable");
  for (const char* key : {"rank_0_peak_allocated_bytes", "after_iteration", "peak_delta_bytes", "peak_delta_fraction"})
    EXPECT_TRUE(none["modelled_device_" + std::string(key)].is_null()) << key;
  const json further = row_of(table, "moe_act");
  EXPECT_EQ(further["modelled_device_result"], "OOM after iteration 3");
  EXPECT_EQ(further["modelled_device_after_iteration"], 1) << "the last that the control completed too";
  EXPECT_EQ(further["modelled_device_peak_delta_bytes"], -60 * kMegabyte);
  EXPECT_EQ(further["against"], "[], not a pass");
}

TEST(GuideReport, WhenTheControlDoesNotFitPassingRowsAreSetAgainstTheNarrowestThatPasses) {
  const json table = table_of_guide(tests::capacity_study().rows());
  EXPECT_EQ(row_of(table, "moe")["modelled_device_result"], "completed 20 steps");
  EXPECT_EQ(row_of(table, "moe")["modelled_device_after_iteration"], 2);
  EXPECT_EQ(row_of(table, "moe")["modelled_device_evidence"], "iterations 11 to 20: 12.00 ms, 0.1667 TFLOP/s/GPU");
  const json wider = row_of(table, "moe, layernorm");
  EXPECT_EQ(wider["against"], "moe (reference, not control)");
  EXPECT_NEAR(wider["modelled_device_time_delta_fraction"], 0.05, 1e-4);
}

TEST(GuideReport, AControlThatEndedInAnotherWayThanWithoutMemoryHasTheMatchedTable) {
  tests::StudyBuilder builder = tests::capacity_study();
  for (base::AttemptRows& attempt : builder.rows().attempts)
    if (attempt.trial.arm == "[]" && attempt.failure) attempt.failure->kind = protocol::FailureKind::kTimeout;
  const json table = table_of_guide(builder.rows());
  EXPECT_EQ(table["key"], "guide_matched");
  EXPECT_EQ(row_of(table, "[]")["modelled_device_result"], "timeout after iteration 1");
}

TEST(GuideReport, AStudyOfTwelveStepsHasTheWindowOfTheGuidesOwn) {
  tests::StudyBuilder builder("twelve");
  builder.add_arm({"moe"});
  for (protocol::Trial& trial : builder.plan().trials) trial.training.train_iters = 12;
  for (int repeat = 0; repeat < 4; ++repeat) builder.run_out_of_memory("[]", protocol::Stage::kWarm, protocol::Phase::kForward, 1);
  builder.run_all("moe", {.num_steps = 12});
  const json row = row_of(table_of_guide(builder.rows()), "moe");
  const std::string evidence = row["modelled_device_evidence"];
  EXPECT_TRUE(evidence.starts_with("iterations 7 to 12: 10.00 ms")) << evidence;
  EXPECT_EQ(row["modelled_device_first_iteration"], 7);
  EXPECT_EQ(row["modelled_device_last_iteration"], 12);
  EXPECT_TRUE(row_of(table_of_guide(builder.rows()), "[]")["modelled_device_first_iteration"].is_null());
}

TEST(GuideReport, OfAPredictionTimesAreEstimatesAndSaySo) {
  const base::StudyRows study = tests::predicted(tests::clean_study());
  const json row = row_of(table_of_guide(study), "moe_act");
  EXPECT_TRUE(row.contains("predicted_peak_allocated_bytes"));
  EXPECT_FALSE(row["predicted_estimated_step_time_ns"].is_null());
  EXPECT_FALSE(row.contains("predicted_window_step_time_ns"));
}

TEST(GuideReport, NamesTheSettingAndTheCommand) {
  const ReportModel model = guide_of(tests::clean_study().rows());
  EXPECT_EQ(std::get<std::string>(model.header.front().value),
            "moonlight_16b (mla_moe), changed: hidden_size, num_layers, BF16, attention fused; Megatron Core 24bad8e6; sequence 64, MBS=1, "
            "GBS=4, TP=1, PP=1, CP=1, EP=1; 2 x modelled device on a test, modelled-device; 20 iterations");
  EXPECT_EQ(std::get<std::string>(model.header.back().value), "rematch report 0000000000005eed --style guide");
}

TEST(GuideReport, NamesThePrecisionThatTheTrialsHave) {
  tests::StudyBuilder builder = tests::clean_study();
  for (protocol::Trial& trial : builder.plan().trials) trial.features.fp8 = "hybrid";
  const ReportModel model = guide_of(builder.rows());
  EXPECT_NE(std::get<std::string>(model.header.front().value).find(", FP8, attention"), std::string::npos);
  for (const Fact& fact : model.header)
    if (fact.key == "training") {
      EXPECT_NE(std::get<std::string>(fact.value).find(", fp8, seed"), std::string::npos);
    }
}

TEST(GuideReport, AStudyWithoutRunsHasItsTableWithoutNumbers) {
  const base::StudyRows study = tests::StudyBuilder("empty").rows();
  for (const char* format : {"md", "csv", "json", "jsonl", "html", "latex"}) EXPECT_TRUE(render(guide_of(study), format)) << format;
  EXPECT_EQ(row_of(table_of_guide(study), "[]")["result"], "not run");
}

TEST(GuideReport, IsAsReviewed) {
  const std::vector<std::pair<std::string, base::StudyRows>> studies = {{"clean", tests::clean_study().rows()},
                                                                        {"capacity", tests::capacity_study().rows()},
                                                                        {"simulated", tests::predicted(tests::clean_study("simulated"))}};
  for (const auto& [name, study] : studies)
    for (const std::string format : {"md", "latex"}) {
      const std::filesystem::path path =
          std::filesystem::path(REMATCH_SOURCE_DIR) / "reports" / "golden" / ("guide_" + name + "." + format_extension(format));
      const std::string text = render(guide_of(study), format).value();
      if (std::getenv("REMATCH_UPDATE_GOLDEN") != nullptr) protocol::write_file_by_rename(path, text);
      EXPECT_EQ(protocol::read_whole_file(path).value_or("no file " + path.string()), text);
    }
}

}  // namespace
}  // namespace rematch::report
