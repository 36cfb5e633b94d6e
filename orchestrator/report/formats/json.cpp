// One JSON object: header, tables as lists of objects, answer, notes. Units stand in the keys, null is "not measured", there is no NaN.
#include <cmath>
#include <nlohmann/json.hpp>

#include "orchestrator/report/format.h"

namespace rematch::report {

namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

struct CellJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(const std::string& text) const { return text; }
  Json operator()(Count count) const { return count.value; }
  Json operator()(Bytes bytes) const { return bytes.value; }
  Json operator()(BytesDelta bytes) const { return bytes.value; }
  Json operator()(Nanoseconds time) const { return number(time.value); }
  Json operator()(Number plain) const { return number(plain.value); }
  Json operator()(Hours time) const { return number(time.value); }
  Json operator()(Teraflops rate) const { return number(rate.value); }
  Json operator()(Fraction fraction) const { return number(fraction.value); }
  Json operator()(FractionDelta fraction) const { return number(fraction.value); }
};

Json facts_json(const std::vector<Fact>& facts) {
  Json object = Json::object();
  for (const Fact& fact : facts) object[fact.key] = std::visit(CellJson{}, fact.value);
  return object;
}

Json rows_json(const Table& table) {
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i)
      if (table.columns[i].place != Place::kTextOnly) object[table.columns[i].key] = std::visit(CellJson{}, row[i]);
    rows.push_back(std::move(object));
  }
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
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

const FormatRegistrar kRegistrar("json", render_json);

}  // namespace

}  // namespace rematch::report
