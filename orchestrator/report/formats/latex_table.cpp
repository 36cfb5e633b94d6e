#include "orchestrator/report/formats/latex_table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "orchestrator/report/cell_text.h"
#include "orchestrator/report/formats/latex_text.h"
#include "orchestrator/report/formats/shown_columns.h"

namespace rematch::report {

namespace {

// Of a page that lies on its side.
struct FontSize {
  const char* command;
  std::size_t num_characters;  // that fit in a line
};
constexpr std::array<FontSize, 4> kSizes = {{{"\\small", 165}, {"\\footnotesize", 185}, {"\\scriptsize", 210}, {"\\tiny", 250}}};
constexpr std::size_t kGap = 3;              // between two columns, in characters
constexpr std::size_t kWidestUnbroken = 60;  // a column of longer texts is broken into lines
constexpr std::size_t kMostRows = 35;        // on one page, of unbroken lines
constexpr std::size_t kMostBrokenRows = 8;

struct LatexColumn {
  Side side = Side::kLeft;
  std::size_t num_characters = 0;  // of its widest text
  std::string title;
  std::vector<std::string> cells;
};

bool is_broken(const LatexColumn& column) { return column.num_characters > kWidestUnbroken; }

LatexColumn latex_column(const Table& table, const ShownColumn& shown, ByteUnits units) {
  const std::string& title = table.columns[shown.index].title;
  LatexColumn column{shown.side, width_of(title), latex_text(title), {}};
  std::vector<std::string> texts;
  for (const auto& row : table.rows) texts.push_back(display_text(row[shown.index], units));
  for (const std::string& text : texts) column.num_characters = std::max(column.num_characters, width_of(text));
  for (const std::string& text : texts)
    column.cells.push_back(is_broken(column) ? "\\raggedright " + latex_text(text, LineBreaks::kAtSigns) : latex_text(text));
  return column;
}

using LatexColumns = std::vector<LatexColumn>;

std::size_t line_width(const LatexColumns& columns) {
  std::size_t width = 0;
  for (const LatexColumn& column : columns) width += std::min(column.num_characters, kWidestUnbroken) + kGap;
  return width;
}

std::string column_types(const LatexColumns& columns) {
  std::string types;
  for (const LatexColumn& column : columns) {
    if (is_broken(column))
      types += "p{" + std::to_string(kWidestUnbroken / 2) + "em}";  // a character is half an em wide
    else
      types += column.side == Side::kLeft ? "l" : "r";
  }
  return "{" + types + "}\n";
}

template <typename Text>
std::string line_of(const LatexColumns& columns, Text text) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) line += (i == 0 ? "" : " & ") + text(columns[i]);
  return line + " \\tabularnewline\n";  // \raggedright takes \\ away
}

std::string heading_lines(const LatexColumns& columns) {
  return "\\hline\n" + line_of(columns, [](const LatexColumn& column) { return column.title; }) + "\\hline\n";
}

struct RowRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::string row_lines(const LatexColumns& columns, RowRange rows) {
  std::string lines;
  for (std::size_t row = rows.begin; row < rows.end; ++row)
    lines += line_of(columns, [row](const LatexColumn& column) { return column.cells[row]; });
  return lines;
}

std::string tabular(const LatexColumns& columns, RowRange rows) {
  return "\\begin{tabular}" + column_types(columns) + heading_lines(columns) + row_lines(columns, rows) + "\\hline\n\\end{tabular}";
}

// Wider than a page in the smallest letters: as many tables as it takes, each scaled to the width of the page.
std::string scaled_tables(const LatexColumns& columns, std::size_t num_rows) {
  std::string text;
  for (std::size_t begin = 0; begin < num_rows; begin += kMostRows)
    text += "\\noindent\\resizebox{\\linewidth}{!}{%\n" + tabular(columns, {begin, std::min(num_rows, begin + kMostRows)}) + "}\\par\n";
  return text;
}

// Its heading again on each page.
std::string long_table(const LatexColumns& columns, std::size_t num_rows) {
  return "\\begin{longtable}" + column_types(columns) + heading_lines(columns) + "\\endhead\n\\hline\n\\endfoot\n" +
         row_lines(columns, {0, num_rows}) + "\\end{longtable}";
}

std::string grid(const Table& table, ByteUnits units) {
  LatexColumns columns;
  for (const ShownColumn& shown : shown_columns(table)) columns.push_back(latex_column(table, shown, units));
  if (columns.empty()) return "none\\par\n";
  const std::size_t width = line_width(columns);
  const auto* size = std::find_if(kSizes.begin(), kSizes.end(), [&](const FontSize& font) { return font.num_characters >= width; });
  if (size == kSizes.end()) return scaled_tables(columns, table.rows.size());
  const bool is_long = table.rows.size() > (std::any_of(columns.begin(), columns.end(), is_broken) ? kMostBrokenRows : kMostRows);
  const std::string body = is_long ? long_table(columns, table.rows.size()) : "\\noindent\n" + tabular(columns, {0, table.rows.size()});
  return std::string("{") + size->command + "\n" + body + "\\par}\n";
}

std::string list(const Table& table, ByteUnits units) {
  const auto text_of = [&](const Cell& cell) { return latex_text(display_text(cell, units), LineBreaks::kAtSigns); };
  std::string text = "\\begin{itemize}\n";
  for (const std::vector<Cell>& row : table.rows) {
    text += "\\item " + text_of(row[0]);
    if (!std::holds_alternative<std::monostate>(row[1])) text += ", " + text_of(row[1]);
    text += ":";
    for (std::size_t i = 2; i < row.size(); ++i)
      text += " " + (table.columns[i].title.empty() ? "" : latex_text(table.columns[i].title) + ": ") + text_of(row[i]);
    text += "\n";
  }
  return text + "\\end{itemize}\n";
}

}  // namespace

std::string latex_table(const Table& table, ByteUnits units) { return table.as_list ? list(table, units) : grid(table, units); }

}  // namespace rematch::report
