// RFC 4180: the main tables only, bytes and nanoseconds as they were stored, an empty field is "not measured". Tables of different
// provenance follow each other after an empty line, each with its own header, so that no column holds two.
#include <type_traits>

#include "orchestrator/report/format.h"
#include "orchestrator/report/formats/csv_text.h"
#include "orchestrator/report/formats/number_text.h"

namespace rematch::report {

namespace {

struct CellText {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(const std::string& text) const { return text; }
  template <typename Quantity>
  std::string operator()(Quantity quantity) const {
    if constexpr (std::is_integral_v<decltype(quantity.value)>)
      return std::to_string(quantity.value);
    else
      return number_text(quantity.value);
  }
};

std::string table_text(const Table& table) {
  std::string text = "schema_version";
  for (const Column& column : table.columns)
    if (column.place != Place::kTextOnly) text += "," + csv_field(column.key);
  text += "\n";
  for (const auto& row : table.rows) {
    text += std::to_string(kReportSchemaVersion);
    for (std::size_t i = 0; i < row.size(); ++i)
      if (table.columns[i].place != Place::kTextOnly) text += "," + csv_field(std::visit(CellText{}, row[i]));
    text += "\n";
  }
  return text;
}

std::string render_csv(const ReportModel& model, ByteUnits) {
  std::string text;
  for (const Table& table : model.tables)
    if (table.in_csv) text += (text.empty() ? "" : "\n") + table_text(table);
  return text;
}

const FormatRegistrar kRegistrar("csv", render_csv);

}  // namespace

}  // namespace rematch::report
