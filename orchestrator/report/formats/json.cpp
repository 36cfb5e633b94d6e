// One JSON object: header, tables as lists of objects, answer, notes. Units stand in the keys, null is "not measured", there is no NaN.
#include <nlohmann/json.hpp>

#include "orchestrator/report/format.h"
#include "orchestrator/report/formats/cell_json.h"

namespace rematch::report {

namespace {

using Json = nlohmann::ordered_json;

Json rows_json(const Table& table) {
  Json rows = Json::array();
  for (const auto& row : table.rows) rows.push_back(row_json(table, row));
  return rows;
}

std::string render_json(const ReportModel& model, ByteUnits) {
  Json document = {{"schema_version", kReportSchemaVersion}, {"title", model.title}, {"header", facts_json(model.header)}};
  // Rows of tables of one key, but of different provenance, say theirs in their own column.
  Json tables = Json::array();
  for (const Table& table : model.tables)
    if (table.place != Place::kTextOnly) tables.push_back({{"key", table.key}, {"title", table.title}, {"rows", rows_json(table)}});
  document["tables"] = std::move(tables);
  document["answer"] = facts_json(model.answer);
  document["notes"] = model.notes;
  return json_text(document, 2) + "\n";
}

const FormatRegistrar kRegistrar("json", render_json);

}  // namespace

}  // namespace rematch::report
