// Reports of studies made in code against reports/golden. After a meant change, REMATCH_UPDATE_GOLDEN=1 writes the files anew; read the
// diff.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "orchestrator/report/format.h"
#include "orchestrator/report/model_document.h"
#include "orchestrator/rules/judge.h"
#include "schemas/protocol/record_file.h"
#include "tests/orchestrator/published_builder.h"
#include "tests/orchestrator/study_builder.h"

namespace rematch::report {
namespace {

base::StudyRows interrupted_study() {
  tests::StudyBuilder builder("interrupted");
  builder.add_arm({"moe_act"});
  builder.run("[]");
  builder.run("moe_act", {.backward_peak_bytes = 880 * tests::kMegabyte});
  base::AttemptRows& stopped = builder.run_out_of_memory("[]", protocol::Stage::kSteady, protocol::Phase::kForward, 6);
  stopped.launch.end = protocol::LaunchEnd::kInterrupted;
  stopped.failure = base::Failure{};
  stopped.failure->kind = protocol::FailureKind::kInterrupted;
  return builder.rows();
}

// Four pipeline stages: the control does not fit on the last, moe_act moves the failure to the first, and the hot rank of passing arms
// moves.
base::StudyRows pipeline_study() {
  using tests::kMegabyte;
  tests::StudyBuilder builder("pipeline", {.world_size = 4, .pipeline_model_parallel_size = 4});
  builder.add_arm({"moe_act"});
  builder.add_arm({"moe"});
  builder.add_arm({"moe", "layernorm"});
  for (int repeat = 0; repeat < 4; ++repeat)
    builder.run_out_of_memory("[]", protocol::Stage::kWarm, protocol::Phase::kForward, 1, {.failing_rank = 3});
  for (int repeat = 0; repeat < 2; ++repeat)
    builder.run_out_of_memory("moe_act", protocol::Stage::kSteady, protocol::Phase::kBackward, 3, {.failing_rank = 0});
  builder.run_all("moe", {.backward_peak_bytes = 950 * kMegabyte});
  builder.run_all("moe+layernorm", {.backward_peak_bytes = 850 * kMegabyte, .extra_bytes = {{3, 40 * kMegabyte}}});
  return builder.rows();
}

// A strategy took a pair of labels, left another out, and ended; a group that it may have come to has no table.
base::StudyRows decided_study() {
  using base::DecisionAction;
  tests::StudyBuilder builder = tests::clean_study("decided");
  builder.add_arm({"core_attn", "moe_act"});
  builder.add_unplanned_arm({"moe"}, base::ArmStatus::kSkipped, "not needed: the budget is met");
  builder.plan().arms.back().group_id = tests::hex_id(0xcc);
  builder.plan().arms.back().variation = "expandable_segments";
  builder.run("core_attn+moe_act",
              {.forward_peak_bytes = 800 * tests::kMegabyte, .backward_peak_bytes = 870 * tests::kMegabyte, .step_time_ns = 10'700'000});
  builder.run("core_attn+moe_act",
              {.forward_peak_bytes = 800 * tests::kMegabyte, .backward_peak_bytes = 870 * tests::kMegabyte, .step_time_ns = 10'600'000});
  builder.plan().strategy = "pairs";
  builder.plan().decisions = {{0, DecisionAction::kTake, "core_attn+moe_act", "both labels lower the activation peak alone"},
                              {1, DecisionAction::kStop, "", "every pair that its labels ask for has run"}};
  return builder.rows();
}

base::StudyRows empty_study() { return tests::StudyBuilder("empty").rows(); }

base::StudyRows odd_characters_study() {
  tests::StudyBuilder builder = tests::clean_study("odd |, \"quoted\"\n日本語");
  builder.plan().arms.back().reason = "a \"reason\", with | a pipe\nand a line";
  return builder.rows();
}

struct GoldenStudy {
  std::string name;
  base::StudyRows study;
  std::optional<protocol::Published> published = {};
  std::optional<base::StudyRows> twin = {};
};

struct GoldenCase {
  std::string name;
  GoldenStudy golden;
  std::string format;
};

protocol::PublishedRow published_peak_row(const std::vector<std::string>& labels, std::int64_t peak_megabytes) {
  protocol::PublishedRow row = tests::published_row(labels, protocol::PublishedEnd::kCompleted, 20);
  row.peak_allocated = tests::published_peak(peak_megabytes, 1);
  return row;
}

// On the meta device without a limit: only rank 0 of two that are alike was run, and a modelled device has run the same.
GoldenStudy simulated_study() {
  using tests::kMegabyte;
  GoldenStudy golden{"simulated", tests::clean_study("simulated").rows()};
  golden.twin = tests::clean_study("modelled").rows();
  golden.twin->plan.study_id = tests::hex_id(0x7717);
  tests::assume_device(golden.study, 1020 * kMegabyte);
  for (base::AttemptRows& attempt : golden.study.attempts) {
    tests::raise_phase(attempt, 0, protocol::Phase::kOptimizer, 890 * kMegabyte);
    if (attempt.trial.arm != "moe_act") tests::raise_phase(attempt, 1, protocol::Phase::kBackward, 1050 * kMegabyte);
    std::erase_if(attempt.ranks, [](const base::RankRows& rank) { return rank.rank != 0; });
  }
  tests::mark_predicted(golden.study);
  golden.published = tests::make_published();
  golden.published->setting.remarks = {"mock data"};
  golden.published->rows = {published_peak_row({}, 990), published_peak_row({"core_attn"}, 985), published_peak_row({"moe_act"}, 895),
                            published_peak_row({"moe"}, 700), published_peak_row({"mlp"}, 800)};
  std::vector<protocol::PublishedRow>& rows = golden.published->rows;
  rows[0].outcome = {protocol::PublishedEnd::kOutOfMemory, 1, std::nullopt, std::nullopt, std::nullopt, "the router failed"};
  rows[1].outcome = rows[0].outcome;
  rows[2].deltas = {{"peak_allocated", "[]", -9.6, 1, std::nullopt}};
  rows[4].precision = "fp8";
  rows[4].comparable = false;
  rows[4].reason = "FP8 bytes are not modelled";
  return golden;
}

// With a limit that most arms do not fit in, beside outcomes that no capacity explains.
GoldenStudy contradicted_study() {
  using enum protocol::PublishedEnd;
  using tests::published_row;
  GoldenStudy golden{"contradicted", tests::capacity_study().rows()};
  for (base::AttemptRows& attempt : golden.study.attempts) attempt.trial.backend.memory_limit_bytes = 1000 * tests::kMegabyte;
  for (protocol::Trial& trial : golden.study.plan.trials) trial.backend.memory_limit_bytes = 1000 * tests::kMegabyte;
  tests::mark_predicted(golden.study);
  golden.published = tests::make_published();
  golden.published->rows = {published_row({}, kOutOfMemory, 1), published_row({"core_attn"}, kOutOfMemory, 0),
                            published_row({"moe_act"}, kOutOfMemory, 1), published_row({"moe"}, kCompleted, 12),
                            published_row({"moe", "layernorm"}, kOutOfMemory, 1)};
  golden.published->rows[2].outcome.requested = protocol::PublishedBytes{"64 MB", 64 * tests::kMegabyte, tests::kMegabyte, false};
  return golden;
}

void PrintTo(const GoldenCase& golden, std::ostream* out) { *out << golden.name << "." << golden.format; }

std::vector<GoldenCase> all_cases() {
  std::vector<GoldenCase> cases;
  const std::vector<GoldenStudy> studies = {{"clean", tests::clean_study().rows()},
                                            {"capacity", tests::capacity_study().rows()},
                                            {"interrupted", interrupted_study()},
                                            {"pipeline", pipeline_study()},
                                            {"decided", decided_study()},
                                            {"empty", empty_study()},
                                            {"odd", odd_characters_study()},
                                            simulated_study(),
                                            contradicted_study()};
  for (const GoldenStudy& golden : studies)
    for (const std::string& format : format_names()) cases.push_back({golden.name, golden, format});
  return cases;
}

ReportModel model_of(const GoldenStudy& golden) {
  Beside beside;
  beside.published = golden.published ? &*golden.published : nullptr;
  beside.twin = golden.twin ? &*golden.twin : nullptr;
  return make_report(golden.study, rules::judge_study(golden.study), beside);
}

std::string rendered(const GoldenStudy& golden, const std::string& format) { return render(model_of(golden), format).value(); }

std::string rendered(const base::StudyRows& study, const std::string& format) { return rendered(GoldenStudy{"", study}, format); }

class Golden : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(Golden, ReportIsAsReviewed) {
  const GoldenCase& golden = GetParam();
  const std::filesystem::path path = std::filesystem::path(REMATCH_SOURCE_DIR) / "reports" / "golden" / (golden.name + "." + golden.format);
  const std::string text = rendered(golden.golden, golden.format);
  if (std::getenv("REMATCH_UPDATE_GOLDEN") != nullptr) protocol::write_file_by_rename(path, text);
  EXPECT_EQ(protocol::read_whole_file(path).value_or("no file " + path.string()), text);
}

TEST_P(Golden, AReportThatWasKeptIsTheSame) {
  const ReportModel model = model_of(GetParam().golden);
  EXPECT_EQ(render(parse_model(model_text(model)).value(), GetParam().format).value(), render(model, GetParam().format).value());
}

std::string case_name(const ::testing::TestParamInfo<GoldenCase>& info) { return info.param.name + "_" + info.param.format; }

INSTANTIATE_TEST_SUITE_P(AllStudiesAndFormats, Golden, ::testing::ValuesIn(all_cases()), case_name);

TEST(Formats, AreNamedAfterTheirFiles) {
  std::vector<std::string> stems;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(REMATCH_SOURCE_DIR) / "orchestrator/report/formats"))
    if (protocol::read_whole_file(entry.path()).value().find("FormatRegistrar kRegistrar(") != std::string::npos)
      stems.push_back(entry.path().stem());
  std::sort(stems.begin(), stems.end());
  EXPECT_EQ(format_names(), stems);
}

TEST(Formats, RefuseAnUnknownNameAndNameTheKnownOnes) {
  const auto result = render(ReportModel{}, "pdf");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "there is no report format 'pdf'; there are: csv, html, json, md");
}

TEST(Markdown, HasLinesOfEqualWidthInEachTable) {
  std::istringstream lines(rendered(tests::capacity_study().rows(), "md"));
  std::size_t width = 0;
  std::size_t num_table_lines = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() != '|') {
      width = 0;
      continue;
    }
    if (width == 0) width = line.size();
    EXPECT_EQ(line.size(), width) << line;
    ++num_table_lines;
  }
  EXPECT_GT(num_table_lines, 10U);
}

TEST(Markdown, PrintsBytesInTheUnitsAskedFor) {
  ReportModel model;
  model.header = {{"a", "a", Bytes{36'618'000'000}}, {"b", "b", Bytes{1'500'000}}, {"c", "c", BytesDelta{-2048}}};
  EXPECT_EQ(render(model, "md", ByteUnits::kGB).value(), "# \n\n- a: 36.618 GB\n- b: 1.500 MB\n- c: -2.048 kB\n");
  EXPECT_EQ(render(model, "md", ByteUnits::kGiB).value(), "# \n\n- a: 34.103 GiB\n- b: 1.431 MiB\n- c: -2.000 KiB\n");
}

TEST(Csv, HasAsManyFieldsInEachLineAsInItsHeader) {
  const std::string text = rendered(tests::capacity_study().rows(), "csv");
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const auto num_fields = std::count(line.begin(), line.end(), ',');
  EXPECT_TRUE(line.starts_with("schema_version,study,study_id,modules,outcome"));
  bool quoted = false;
  for (; std::getline(lines, line);) {
    std::ptrdiff_t commas = 0;
    for (char c : line) {
      if (c == '"') quoted = !quoted;
      commas += c == ',' && !quoted ? 1 : 0;
    }
    EXPECT_EQ(commas, num_fields) << line;
  }
}

TEST(Json, IsAnObjectWithASchemaVersionAndNullForWhatWasNotMeasured) {
  const auto document = nlohmann::json::parse(rendered(tests::clean_study().rows(), "json"));
  EXPECT_EQ(document["schema_version"], kReportSchemaVersion);
  const auto& rows = document["tables"][0]["rows"];
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[2]["modules"], "moe_act");
  EXPECT_EQ(rows[2]["peak_allocated_bytes"], 880 * tests::kMegabyte);
  EXPECT_EQ(rows[3]["outcome"], "inactive");
  for (const char* key : {"peak_allocated_bytes", "step_time_ns", "time_delta_fraction", "aa_time_difference_fraction"})
    EXPECT_TRUE(rows[3][key].is_null()) << key;
}

TEST(Report, HasNoColumnOfTwoProvenances) {
  const auto document = nlohmann::json::parse(rendered(simulated_study(), "json"));
  for (const auto& table : document["tables"]) {
    if (table["key"] == "published_peaks") {
      EXPECT_EQ(table["rows"][0]["published_peak_bytes"], 990 * tests::kMegabyte);
      EXPECT_EQ(table["rows"][0]["predicted_peak_bytes"], 1000 * tests::kMegabyte);
    }
    if (table["key"] == "twin_arms") {
      EXPECT_EQ(table["rows"][0]["predicted_peak_allocated_bytes"], 1050 * tests::kMegabyte);
      EXPECT_EQ(table["rows"][0]["modelled_device_peak_allocated_bytes"], 1000 * tests::kMegabyte);
    }
  }
}

TEST(Report, ShowsOfAPredictedStudyWhatEachLabelCanTakeAwayAtMost) {
  EXPECT_NE(rendered(simulated_study(), "md").find("What each label can take away of the control's peak at most (rank 0, backward"),
            std::string::npos);
  EXPECT_EQ(rendered(tests::clean_study().rows(), "md").find("can take away"), std::string::npos);
  GoldenStudy bound = simulated_study();
  for (base::AttemptRows& attempt : bound.study.attempts)
    tests::raise_phase(attempt, 0, protocol::Phase::kOptimizer, 1200 * tests::kMegabyte);
  EXPECT_NE(rendered(bound, "md").find("control: no label can help"), std::string::npos);
}

TEST(Report, NeverPutsTwoProvenancesInOneTable) {
  base::StudyRows study = tests::clean_study().rows();
  for (base::AttemptRows& run : study.attempts)
    if (run.trial.arm == "moe_act")
      for (base::RankRows& rank : run.ranks) rank.hello->provenance = protocol::Provenance::kMeasured;
  const auto document = nlohmann::json::parse(rendered(study, "json"));
  std::vector<nlohmann::json> arm_tables;
  for (const auto& table : document["tables"])
    if (table["key"] == "arms") arm_tables.push_back(table["rows"]);
  ASSERT_EQ(arm_tables.size(), 2U);
  EXPECT_EQ(arm_tables[0].size(), 3U);
  EXPECT_EQ(arm_tables[1].size(), 1U);
  EXPECT_EQ(arm_tables[1][0]["provenance"], "measured");
}

}  // namespace
}  // namespace rematch::report
