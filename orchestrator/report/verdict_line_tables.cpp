#include "orchestrator/report/verdict_line_tables.h"

#include "orchestrator/report/cells.h"

namespace rematch::report {

namespace {

using rules::VerdictLine;

struct ArmLine {
  std::string arm;
  VerdictLine line;
};

std::string text_of(const Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  return text == nullptr ? "" : *text;
}

}  // namespace

Table verdict_lines_table(const std::vector<VerdictLine>& lines) {
  const std::vector<ColumnOf<VerdictLine>> columns = {
      {{"about", "about"}, [](const VerdictLine& line) { return text_cell(line.about); }},
      {{"word", "word"}, [](const VerdictLine& line) { return text_cell(line.word); }},
      {{"text", ""}, [](const VerdictLine& line) { return text_cell(line.text); }},
  };
  Table table = table_of("verdict_lines", "Verdict", columns, lines);
  table.as_list = true;
  return table;
}

Table arm_lines_table(const base::StudyPlan& plan, const base::StudyVerdict& verdict) {
  std::vector<ArmLine> rows;
  for (const base::ArmVerdict& arm : verdict.arms)
    for (VerdictLine& line : rules::arm_lines(plan, verdict, arm)) rows.push_back({arm.arm, std::move(line)});
  const std::vector<ColumnOf<ArmLine>> columns = {
      modules_column<ArmLine>(),
      {{"about", "about"}, [](const ArmLine& row) { return text_cell(row.line.about); }},
      {{"word", "word"}, [](const ArmLine& row) { return text_cell(row.line.word); }},
      {{"text", ""}, [](const ArmLine& row) { return text_cell(row.line.text); }},
  };
  Table table = table_of("arm_verdicts", "Verdicts in words", columns, rows);
  table.place = Place::kDataOnly;
  return table;
}

std::vector<VerdictLine> lines_of_arm(const Table& arm_lines, const std::string& arm) {
  std::vector<VerdictLine> lines;
  for (const std::vector<Cell>& row : arm_lines.rows)
    if (text_of(row[0]) == arm) lines.push_back({text_of(row[1]), text_of(row[2]), text_of(row[3])});
  return lines;
}

Table rows_of_arm(const Table& table, const std::string& arm) {
  Table own = table;
  std::erase_if(own.rows, [&](const std::vector<Cell>& row) { return text_of(row.front()) != arm; });
  return own;
}

}  // namespace rematch::report
