// One JSON object a line, for programs that read line by line: the header, each row of each table, the answer, each note. What a line is
// stands in its key "line"; a row names its table. Values are those of json.
#include <nlohmann/json.hpp>

#include "orchestrator/report/format.h"
#include "orchestrator/report/formats/cell_json.h"

namespace rematch::report {

namespace {

using Json = nlohmann::ordered_json;

// What every line begins with; `content` follows, whose keys are none of these.
std::string line_text(const std::string& kind, const Json& head, const Json& content) {
  Json line = {{"schema_version", kReportSchemaVersion}, {"line", kind}};
  line.update(head);
  line.update(content);
  return json_text(line, -1) + "\n";
}

// The number tells tables of one key apart: of two groups, or of two provenances.
std::string table_text(const Table& table, int number) {
  const Json head = {{"table", table.key}, {"table_number", number}, {"table_title", table.title}};
  std::string text;
  for (const auto& row : table.rows) text += line_text("row", head, row_json(table, row));
  return text;
}

std::string render_jsonl(const ReportModel& model, ByteUnits) {
  std::string text = line_text("header", {{"title", model.title}}, facts_json(model.header));
  int number = 0;
  for (const Table& table : model.tables)
    if (table.place != Place::kTextOnly) text += table_text(table, ++number);
  if (!model.answer.empty()) text += line_text("answer", Json::object(), facts_json(model.answer));
  for (const std::string& note : model.notes) text += line_text("note", Json::object(), {{"text", note}});
  return text;
}

const FormatRegistrar kRegistrar("jsonl", render_jsonl);

}  // namespace

}  // namespace rematch::report
