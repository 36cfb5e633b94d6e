// RFC 4180: the main tables only, bytes and nanoseconds as they were stored, an empty field is "not measured". Tables of different
// provenance follow each other after an empty line, each with its own header, so that no column holds two.
#include "orchestrator/report/format.h"
#include "orchestrator/report/formats/csv_text.h"
#include "orchestrator/report/formats/number_text.h"

namespace rematch::report {

namespace {

struct CellText {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(Count count) const { return std::to_string(count.value); }
  std::string operator()(Bytes bytes) const { return std::to_string(bytes.value); }
  std::string operator()(BytesDelta bytes) const { return std::to_string(bytes.value); }
  std::string operator()(Nanoseconds time) const { return number_text(time.value); }
  std::string operator()(Number number) const { return number_text(number.value); }
  std::string operator()(Hours time) const { return number_text(time.value); }
  std::string operator()(Teraflops rate) const { return number_text(rate.value); }
  std::string operator()(Fraction fraction) const { return number_text(fraction.value); }
  std::string operator()(FractionDelta fraction) const { return number_text(fraction.value); }
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
