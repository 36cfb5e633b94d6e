#include "tests/orchestrator/report/parsed_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "orchestrator/report/formats/latex_text.h"
#include "orchestrator/report/formats/shown_columns.h"

namespace rematch::report {

namespace {

using Json = nlohmann::ordered_json;
using Texts = std::vector<std::string>;

// A table as it stands in the text: a heading a column, then rows.
struct Grid {
  std::string title;  // empty where it does not say
  std::vector<Texts> lines;
  std::string key = {};  // the same
};

std::vector<std::size_t> data_columns(const Table& table) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (table.columns[i].place != Place::kTextOnly) columns.push_back(i);
  return columns;
}

std::vector<std::size_t> text_columns(const Table& table) {
  std::vector<std::size_t> columns;
  for (const ShownColumn& shown : shown_columns(table)) columns.push_back(shown.index);
  return columns;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) text.replace(at, what.size(), by);
  return text;
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// RFC 4180; an empty line ends a table.
std::vector<Grid> csv_grids(const std::string& text) {
  std::vector<Grid> grids;
  Texts fields(1);
  bool quoted = false;
  bool new_table = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      fields.back() += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (quoted || (c != ',' && c != '\n')) {
      fields.back() += c;
    } else if (c == ',') {
      fields.emplace_back();
    } else if (fields.size() == 1 && fields.front().empty()) {
      new_table = true;
    } else {
      if (new_table) grids.emplace_back();
      new_table = false;
      EXPECT_TRUE(fields.front() == "schema_version" || fields.front() == "1") << fields.front();
      fields.erase(fields.begin());
      grids.back().lines.push_back(std::exchange(fields, Texts(1)));
    }
  }
  return grids;
}

std::string json_cell(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

Texts keys_of(const Json& row) {
  Texts keys;
  for (const auto& [key, value] : row.items()) keys.push_back(key);
  return keys;
}

Texts values_of(const Json& row) {
  Texts values;
  for (const auto& [key, value] : row.items()) values.push_back(json_cell(value));
  return values;
}

void add_row(const Json& row, Grid& grid) {
  if (grid.lines.empty()) grid.lines.push_back(keys_of(row));
  EXPECT_EQ(keys_of(row), grid.lines.front());
  grid.lines.push_back(values_of(row));
}

std::vector<Grid> json_grids(const std::string& text) {
  std::vector<Grid> grids;
  const Json document = Json::parse(text);
  for (const Json& table : document.at("tables")) {
    Grid& grid = grids.emplace_back(Grid{table.at("title"), {}});
    for (const Json& row : table.at("rows")) add_row(row, grid);
  }
  return grids;
}

std::vector<Grid> jsonl_grids(const std::string& text) {
  std::vector<Grid> grids;
  std::int64_t number = 0;
  for (const std::string& line : lines_of(text)) {
    Json row = Json::parse(line);
    EXPECT_EQ(row.at("schema_version"), 1);
    if (row.at("line") != "row") continue;
    if (row.at("table_number") != number) grids.push_back({row.at("table_title"), {}});
    number = row.at("table_number");
    for (const char* head : {"schema_version", "line", "table", "table_number", "table_title"}) row.erase(head);
    add_row(row, grids.back());
  }
  return grids;
}

Texts md_cells(const std::string& line) {
  Texts cells(1);
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|')
      cells.back() += line[++i];
    else if (line[i] == '|')
      cells.emplace_back();
    else
      cells.back() += line[i];
  }
  cells.pop_back();  // behind the last bar
  for (std::string& cell : cells) cell = trimmed(cell);
  return cells;
}

std::vector<Grid> md_grids(const std::string& text) {
  std::vector<Grid> grids;
  std::string title;
  bool inside = false;
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with("## ")) title = line.substr(3);
    const bool is_line = line.starts_with("|");
    if (is_line && !inside) grids.push_back({title, {}});
    inside = is_line;
    if (is_line && !line.starts_with("| ---") && line.find("| -") != 0) grids.back().lines.push_back(md_cells(line));
  }
  return grids;
}

// Back to the text that people read in a cell, for the characters that numbers and names have.
std::string latex_plain(std::string text) {
  text = replaced(text, "\\raggedright ", "");
  const std::array<std::pair<const char*, const char*>, 14> kPlain = {{{"\\allowbreak{}", ""},
                                                                       {"--{}", "--"},
                                                                       {"-{}", "-"},
                                                                       {"$-$", "-"},
                                                                       {"{[}", "["},
                                                                       {"{]}", "]"},
                                                                       {"{*}", "*"},
                                                                       {"\\_", "_"},
                                                                       {"\\%", "%"},
                                                                       {"\\textbar{}", "|"},
                                                                       {"{\\ttfamily\\char34}", "\""},
                                                                       {"{\\ttfamily\\char13}", "'"},
                                                                       {"\\&", "&"},
                                                                       {"\\#", "#"}}};
  for (const auto& [what, by] : kPlain) text = replaced(text, what, by);
  return trimmed(text);
}

std::vector<Grid> latex_grids(const std::string& text) {
  constexpr const char* kEnd = " \\tabularnewline";
  std::vector<Grid> grids;
  std::string title;
  bool inside = false;
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with("\\subsection*{")) title = latex_plain(line.substr(13, line.size() - 14));
    if (line.starts_with("% end table")) inside = false;
    if (!line.ends_with(kEnd)) continue;
    if (!inside) grids.push_back({title, {}});
    inside = true;
    Texts cells(1);
    const std::string row = line.substr(0, line.size() - std::string(kEnd).size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row.substr(i).starts_with(" & ")) {
        cells.emplace_back();
        i += 2;
      } else {
        cells.back() += row[i];
      }
    }
    for (std::string& cell : cells) cell = latex_plain(cell);
    const bool repeats_heading = !grids.back().lines.empty() && cells == grids.back().lines.front();
    if (!repeats_heading) grids.back().lines.push_back(cells);
  }
  return grids;
}

std::string html_plain(const std::string& html) {
  std::string text;
  bool inside_tag = false;
  for (const char c : html) {
    if (c == '<') inside_tag = true;
    if (!inside_tag) text += c;
    if (c == '>') inside_tag = false;
  }
  const std::array<std::pair<const char*, const char*>, 5> kEntities = {
      {{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}}};
  for (const auto& [what, by] : kEntities) text = replaced(text, what, by);
  return text;
}

// What stands between each `open` and the next `close`, with the rest of the opening tag.
std::vector<std::string> pieces(const std::string& html, const std::string& open, const std::string& close) {
  std::vector<std::string> found;
  for (std::size_t at = html.find(open); at != std::string::npos; at = html.find(open, at + 1)) {
    const std::size_t begin = at + open.size();
    found.push_back(html.substr(begin, html.find(close, begin) - begin));
  }
  return found;
}

std::vector<Grid> html_grids(const std::string& text) {
  std::vector<Grid> grids;
  for (const std::string& table : pieces(text, "<table", "</table>")) {
    Grid& grid = grids.emplace_back();
    grid.key = pieces(table, "data-key=\"", "\"").front();
    for (const std::string& row : pieces(table, "<tr", "</tr>")) {
      Texts& cells = grid.lines.emplace_back();
      for (const std::string& cell : pieces(replaced(row, "<td", "<th"), "<th", "</t")) cells.push_back(html_plain("<" + cell));
    }
  }
  return grids;
}

std::vector<Grid> grids_of(const std::string& format, const std::string& text) {
  if (format == "csv") return csv_grids(text);
  if (format == "json") return json_grids(text);
  if (format == "jsonl") return jsonl_grids(text);
  if (format == "md") return md_grids(text);
  if (format == "latex") return latex_grids(text);
  if (format == "html") return html_grids(text);
  ADD_FAILURE() << "no reader of " << format << ": write one here";
  return {};
}

bool is_shown(const std::string& format, const Table& table) {
  if (format == "csv") return table.in_csv;
  if (is_raw_format(format)) return table.place != Place::kTextOnly;
  return table.place != Place::kDataOnly && !table.as_list;
}

Texts headings_of(const Table& table, const std::vector<std::size_t>& columns, bool are_keys) {
  Texts headings;
  for (const std::size_t i : columns) headings.push_back(are_keys ? table.columns[i].key : table.columns[i].title);
  return headings;
}

}  // namespace

bool is_raw_format(const std::string& format) { return format == "csv" || format == "json" || format == "jsonl"; }

std::vector<ParsedTable> parse_report(const std::string& format, const std::string& text, const ReportModel& model) {
  const bool is_raw = is_raw_format(format);
  std::vector<Grid> grids = grids_of(format, text);
  std::vector<ParsedTable> tables;
  for (const Table& table : model.tables) {
    const std::vector<std::size_t> columns = is_raw ? data_columns(table) : text_columns(table);
    if (!is_shown(format, table) || table.rows.empty() || columns.empty()) continue;
    // A format that says what each table is may have another order; else the next one it is.
    const auto grid = std::find_if(grids.begin(), grids.end(), [&](const Grid& g) { return g.key.empty() || g.key == table.key; });
    if (grid == grids.end()) {
      ADD_FAILURE() << format << " lacks the table " << table.title;
      return tables;
    }
    EXPECT_TRUE(grid->title.empty() || grid->title == table.title) << format << ": " << grid->title << ", not " << table.title;
    EXPECT_EQ(grid->lines.front(), headings_of(table, columns, is_raw)) << format << ", " << table.title;
    EXPECT_EQ(grid->lines.size(), table.rows.size() + 1) << format << ", " << table.title;
    for (const Texts& line : grid->lines) EXPECT_EQ(line.size(), columns.size()) << format << ", " << table.title;
    if (::testing::Test::HasFailure()) return tables;
    tables.push_back({&table, columns, {grid->lines.begin() + 1, grid->lines.end()}});
    grids.erase(grid);
  }
  EXPECT_EQ(grids.size(), 0U) << format << " has tables that the model has not";
  return tables;
}

}  // namespace rematch::report
