// Markdown that a terminal shows well: columns are padded, numbers stand to the right, a column without any value is left out.
#include <algorithm>

#include "orchestrator/report/cell_text.h"
#include "orchestrator/report/format.h"
#include "orchestrator/report/formats/shown_columns.h"

namespace rematch::report {

namespace {

// A cell must not end its row or its line.
std::string escaped(const std::string& text) {
  std::string safe;
  for (char c : text) {
    if (c == '|')
      safe += "\\|";
    else if (c == '\n' || c == '\r' || c == '\t')
      safe += ' ';
    else
      safe += c;
  }
  return safe;
}

std::string cell_text(const Cell& cell, ByteUnits units) { return escaped(display_text(cell, units)); }

struct TextColumn {
  std::vector<std::string> lines;  // the title, then a cell a row
  std::size_t width = 3;
  Side side = Side::kLeft;
};

std::string padded(const std::string& text, const TextColumn& column) {
  const std::string gap(column.width - width_of(text), ' ');
  return column.side == Side::kLeft ? text + gap : gap + text;
}

std::vector<TextColumn> text_columns(const Table& table, ByteUnits units) {
  std::vector<TextColumn> columns;
  for (const ShownColumn& shown : shown_columns(table)) {
    TextColumn& column = columns.emplace_back();
    column.side = shown.side;
    column.lines.push_back(table.columns[shown.index].title);
    for (const auto& row : table.rows) column.lines.push_back(cell_text(row[shown.index], units));
    for (const std::string& line : column.lines) column.width = std::max(column.width, width_of(line));
  }
  return columns;
}

std::string table_line(const std::vector<TextColumn>& columns, std::size_t line) {
  std::string text = "|";
  for (const TextColumn& column : columns) text += " " + padded(column.lines[line], column) + " |";
  return text + "\n";
}

std::string rule_line(const std::vector<TextColumn>& columns) {
  std::string text = "|";
  for (const TextColumn& column : columns) {
    const std::string dashes(column.width, '-');
    text += column.side == Side::kLeft ? " " + dashes + " |" : " " + dashes + ":|";
  }
  return text + "\n";
}

std::string table_text(const Table& table, ByteUnits units) {
  const std::vector<TextColumn> columns = text_columns(table, units);
  std::string text = "## " + table.title + "\n\n";
  if (columns.empty()) return text + "none\n\n";
  text += table_line(columns, 0) + rule_line(columns);
  for (std::size_t row = 1; row <= table.rows.size(); ++row) text += table_line(columns, row);
  return text + "\n";
}

std::string list_text(const Table& table, ByteUnits units) {
  std::string text = "## " + table.title + "\n\n";
  for (const std::vector<Cell>& row : table.rows) {
    text += "- " + cell_text(row[0], units);
    if (!std::holds_alternative<std::monostate>(row[1])) text += ", " + cell_text(row[1], units);
    text += ":";
    for (std::size_t i = 2; i < row.size(); ++i)
      text += " " + (table.columns[i].title.empty() ? "" : table.columns[i].title + ": ") + cell_text(row[i], units);
    text += "\n";
  }
  return text + "\n";
}

std::string facts_text(const std::vector<Fact>& facts, ByteUnits units) {
  std::size_t width = 0;
  for (const Fact& fact : facts) width = std::max(width, width_of(fact.title));
  std::string text;
  for (const Fact& fact : facts) {
    if (std::holds_alternative<std::monostate>(fact.value)) continue;
    text += "- " + fact.title + ":" + std::string(width - width_of(fact.title) + 1, ' ') + cell_text(fact.value, units) + "\n";
  }
  return text + "\n";
}

std::string render_md(const ReportModel& model, ByteUnits units) {
  std::string text = "# " + escaped(model.title) + "\n\n" + facts_text(model.header, units);
  for (const Table& table : model.tables)
    if (table.place != Place::kDataOnly) text += table.as_list ? list_text(table, units) : table_text(table, units);
  if (!model.answer.empty()) text += "## Answer\n\n" + facts_text(model.answer, units);
  if (!model.notes.empty()) text += "## Notes\n\n";
  for (const std::string& note : model.notes) text += "- " + escaped(note) + "\n";
  return text.ends_with("\n\n") ? text.substr(0, text.size() - 1) : text;
}

const FormatRegistrar kRegistrar("md", render_md);

}  // namespace

}  // namespace rematch::report
