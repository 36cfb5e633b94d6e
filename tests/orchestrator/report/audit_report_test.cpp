// Audits of the tables in sweeps/published against reports/golden. After a meant change, REMATCH_UPDATE_GOLDEN=1 writes the files anew.
#include "orchestrator/report/audit_report.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "orchestrator/report/format.h"
#include "orchestrator/rules/model_labels.h"
#include "schemas/protocol/record_file.h"
#include "tests/orchestrator/made_up_table.h"
#include "tests/orchestrator/spec/sample.h"

namespace rematch::report {
namespace {

struct ShippedTable {
  const char* name;
  std::optional<rules::WorkByFormula> formula;  // as a study of the sweep beside the table counts it
};

const std::vector<ShippedTable>& shipped_tables() {
  static const std::vector<ShippedTable> tables = {
      {"moonlight_16b_8xh100", rules::WorkByFormula{281033954033664.0, "study moonlight_16b_8xh100"}},
      {"nemotron_3_nano_16xh100", rules::WorkByFormula{2.920034447917056e15, "study nemotron_3_nano_16xh100"}},
      {"nemotron_3_nano_8xh100", std::nullopt},
      {"llama3_70b_32xh100", std::nullopt}};
  return tables;
}

rules::PublishedAudit audit_of(const ShippedTable& table) {
  const std::string file = std::string(REMATCH_SOURCE_DIR "/sweeps/published/") + table.name + ".json";
  const protocol::Published published = protocol::read_published(file);
  return rules::audit_published(published, table.formula, rules::model_labels(spec::example_trainer("valid-families"), published.setting));
}

TEST(AuditGolden, IsAsReviewed) {
  for (const ShippedTable& table : shipped_tables())
    for (const std::string format : {"md", "json"}) {
      const std::filesystem::path path =
          std::filesystem::path(REMATCH_SOURCE_DIR) / "reports" / "golden" / ("audit_" + std::string(table.name) + "." + format);
      const std::string text = render(make_audit_report({audit_of(table)}), format).value();
      if (std::getenv("REMATCH_UPDATE_GOLDEN") != nullptr) protocol::write_file_by_rename(path, text);
      EXPECT_EQ(protocol::read_whole_file(path).value_or("no file " + path.string()), text);
    }
}

nlohmann::json table_named(const nlohmann::json& document, const std::string& key) {
  for (const auto& table : document["tables"])
    if (table["key"] == key) return table["rows"];
  return {};
}

nlohmann::json document_of(const std::vector<rules::PublishedAudit>& audits) {
  return nlohmann::json::parse(render(make_audit_report(audits), "json").value());
}

TEST(AuditReport, SaysOfEachRowItsTableAndItsProvenance) {
  std::vector<rules::PublishedAudit> audits;
  for (const ShippedTable& table : shipped_tables()) audits.push_back(audit_of(table));
  const nlohmann::json document = document_of(audits);
  std::size_t num_rows = 0;
  for (const auto& table : document["tables"])
    for (const auto& row : table["rows"]) {
      EXPECT_EQ(row["provenance"], "published");
      EXPECT_TRUE(row["published_table"].is_string());
      ++num_rows;
    }
  EXPECT_GT(num_rows, 60U);
  EXPECT_EQ(table_named(document, "audit_sources").size(), 4U);
  EXPECT_EQ(document["header"]["num_confirmed_deltas"], 16);
}

TEST(AuditReport, HasNoNumberWhereTheSourceHasNone) {
  const nlohmann::json document = document_of({audit_of(shipped_tables()[1])});
  for (const auto& row : table_named(document, "audit_pairs"))
    if (row["modules"] == "core_attn") {
      for (const char* key : {"peak_delta_bytes", "peak_fraction", "time_fraction", "tflops_fraction"}) EXPECT_TRUE(row[key].is_null());
      EXPECT_TRUE(row["not_comparable"].is_string());
    }
  for (const auto& row : table_named(document, "audit_rows"))
    if (row["modules"] == "core_attn") {
      EXPECT_TRUE(row["published_peak_bytes"].is_null());
    }
}

TEST(AuditReport, CountsWhatIsContradicted) {
  protocol::Published table = tests::made_up_table();
  EXPECT_EQ(document_of({rules::audit_published(table)})["header"]["num_contradicted"], 0);
  table.rows[1].deltas[1].percent = 7;
  EXPECT_EQ(document_of({rules::audit_published(table)})["header"]["num_contradicted"], 1);
}

TEST(AuditReport, IsPrintedInEveryFormat) {
  const ReportModel model = make_audit_report({audit_of(shipped_tables()[0])});
  for (const std::string& format : format_names()) EXPECT_FALSE(render(model, format).value().empty()) << format;
}

}  // namespace
}  // namespace rematch::report
