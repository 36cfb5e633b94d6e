// Makes cells of our values, and tables of row structs: one entry a column. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orchestrator/report/report_model.h"

namespace rematch::report {

inline Cell text_cell(std::string_view text) { return text.empty() ? Cell{} : Cell{std::string(text)}; }

// The typed cell of a number that may be missing: cell_of<Bytes>(figures.activation_peak_bytes).
template <typename Typed, typename T>
Cell cell_of(const std::optional<T>& maybe) {
  return maybe ? Cell{Typed{*maybe}} : Cell{};
}

// An enum of the protocol by its name.
template <typename Enum>
Cell name_cell(Enum value) {
  return std::string(to_string(value));
}
template <typename Enum>
Cell name_cell(const std::optional<Enum>& maybe) {
  return maybe ? name_cell(*maybe) : Cell{};
}

template <typename Row>
struct ColumnOf {
  Column column;
  std::function<Cell(const Row&)> cell;
};

// The arm of a row that has one.
template <typename Row>
ColumnOf<Row> modules_column() {
  return {{"modules", "modules"}, [](const Row& row) { return text_cell(row.arm); }};
}

// Of something that a row may lack as a whole.
template <typename Row, typename Part, typename Get>
std::function<Cell(const Row&)> of_part(const std::optional<Part> Row::*part, Get get) {
  return [part, get](const Row& row) { return row.*part ? get(*(row.*part)) : Cell{}; };
}

template <typename Row>
Table table_of(std::string key, std::string title, const std::vector<ColumnOf<Row>>& columns, const std::vector<Row>& rows) {
  Table table;
  table.key = std::move(key);
  table.title = std::move(title);
  for (const ColumnOf<Row>& column : columns) table.columns.push_back(column.column);
  for (const Row& row : rows) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    for (const ColumnOf<Row>& column : columns) cells.push_back(column.cell(row));
  }
  return table;
}

}  // namespace rematch::report
