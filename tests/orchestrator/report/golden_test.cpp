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
#include "tests/orchestrator/report/golden_model.h"
#include "tests/orchestrator/report/golden_studies.h"

namespace rematch::report {
namespace {

using tests::GoldenStudy;

struct GoldenCase {
  std::string name;
  GoldenStudy golden;
  std::string format;
};

void PrintTo(const GoldenCase& golden, std::ostream* out) { *out << golden.name << "." << golden.format; }

std::vector<GoldenCase> all_cases() {
  std::vector<GoldenCase> cases;
  for (const GoldenStudy& golden : tests::golden_studies())
    for (const std::string& format : format_names()) cases.push_back({golden.name, golden, format});
  return cases;
}

std::string rendered(const GoldenStudy& golden, const std::string& format) { return render(model_of(golden), format).value(); }

std::string rendered(const base::StudyRows& study, const std::string& format) { return rendered(GoldenStudy{"", study}, format); }

class Golden : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(Golden, ReportIsAsReviewed) {
  const GoldenCase& golden = GetParam();
  const std::filesystem::path path =
      std::filesystem::path(REMATCH_SOURCE_DIR) / "reports" / "golden" / (golden.name + "." + format_extension(golden.format));
  const std::string text = rendered(golden.golden, golden.format);
  if (std::getenv("REMATCH_UPDATE_GOLDEN") != nullptr) protocol::write_file_by_rename(path, text);
  EXPECT_EQ(protocol::read_whole_file(path).value_or("no file " + path.string()), text);
}

TEST_P(Golden, AReportThatWasKeptIsTheSame) {
  const ReportModel model = model_of(GetParam().golden);
  ReportModel kept = parse_model(model_text(model)).value();
  kept.plots = parse_plots(plots_text(model.plots)).value();
  EXPECT_EQ(render(kept, GetParam().format).value(), render(model, GetParam().format).value());
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
  EXPECT_EQ(result.error().message, "there is no report format 'pdf'; there are: csv, html, json, jsonl, latex, md");
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
  const auto document = nlohmann::json::parse(rendered(tests::simulated_study(), "json"));
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
  EXPECT_NE(rendered(tests::simulated_study(), "md").find("What each label can take away of the control's peak at most (rank 0, backward"),
            std::string::npos);
  EXPECT_EQ(rendered(tests::clean_study().rows(), "md").find("can take away"), std::string::npos);
  GoldenStudy bound = tests::simulated_study();
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
