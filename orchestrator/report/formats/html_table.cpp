#include "orchestrator/report/formats/html_table.h"

#include <cmath>
#include <optional>

#include "orchestrator/report/cell_text.h"
#include "orchestrator/report/formats/html_text.h"
#include "orchestrator/report/formats/number_text.h"
#include "orchestrator/report/formats/shown_columns.h"

namespace rematch::report {

namespace {

bool is_missing(const Cell& cell) { return std::holds_alternative<std::monostate>(cell); }

struct RawValue {
  std::optional<std::string> operator()(std::monostate) const { return std::nullopt; }
  std::optional<std::string> operator()(const std::string&) const { return std::nullopt; }
  template <typename Typed>
  std::optional<std::string> operator()(const Typed& typed) const {
    if constexpr (std::is_same_v<decltype(typed.value), std::int64_t>) return std::to_string(typed.value);
    if (!std::isfinite(static_cast<double>(typed.value))) return std::nullopt;
    return number_text(static_cast<double>(typed.value));
  }
};

std::string raw_attribute(const Cell& cell) {
  const std::optional<std::string> raw = std::visit(RawValue{}, cell);
  return raw ? attribute("data-v", *raw) : "";
}

bool is_numeric(const ShownColumn& column) { return column.side == Side::kRight; }

std::string cell_classes(const Cell& cell, const ShownColumn& column) {
  if (is_missing(cell)) return is_numeric(column) ? " class=\"n m\"" : " class=\"m\"";
  return is_numeric(column) ? " class=\"n\"" : "";
}

std::string row_html(const std::vector<Cell>& row, const std::vector<ShownColumn>& columns, ByteUnits units, const std::string& chosen) {
  const bool is_chosen = !chosen.empty() && display_text(row[columns.front().index], units) == chosen;
  std::string text = is_chosen ? "<tr class=\"chosen\">" : "<tr>";
  for (const ShownColumn& column : columns) {
    const Cell& cell = row[column.index];
    const bool is_name = column.index == columns.front().index;
    text += (is_name ? "<th scope=\"row\"" : "<td") + cell_classes(cell, column) + raw_attribute(cell) + ">" +
            escaped_html(display_text(cell, units)) + (is_name ? "</th>" : "</td>");
  }
  return text + "</tr>\n";
}

}  // namespace

std::string html_table(const Table& table, ByteUnits units, const std::string& id, const std::string& chosen) {
  const std::vector<ShownColumn> columns = shown_columns(table);
  if (columns.empty()) return "<p>none</p>\n";
  std::string text = "<div class=\"scroll\" role=\"region\" tabindex=\"0\"" + attribute("aria-labelledby", id) + "><table" +
                     attribute("data-key", table.key) + ">\n<thead><tr>";
  for (const ShownColumn& column : columns)
    text += std::string("<th scope=\"col\"") + (is_numeric(column) ? " class=\"n\"" : "") +
            attribute("data-key", table.columns[column.index].key) + ">" + escaped_html(table.columns[column.index].title) + "</th>";
  text += "</tr></thead>\n<tbody>\n";
  for (const std::vector<Cell>& row : table.rows) text += row_html(row, columns, units, chosen);
  return text + "</tbody></table></div>\n";
}

std::string html_list(const Table& table, ByteUnits units) {
  std::string text = "<dl class=\"findings\">\n";
  for (const std::vector<Cell>& row : table.rows) {
    text += "<dt>" + escaped_html(display_text(row[0], units)) +
            (is_missing(row[1]) ? "" : ", <b>" + escaped_html(display_text(row[1], units)) + "</b>") + "</dt>\n";
    for (std::size_t i = 2; i < row.size(); ++i)
      if (!is_missing(row[i]))
        text += "<dd>" + (table.columns[i].title.empty() ? "" : "<b>" + escaped_html(table.columns[i].title) + ":</b> ") +
                escaped_html(display_text(row[i], units)) + "</dd>\n";
  }
  return text + "</dl>\n";
}

std::string html_facts(const std::vector<Fact>& facts, ByteUnits units) {
  std::string text = "<dl class=\"facts\">\n";
  for (const Fact& fact : facts)
    if (!is_missing(fact.value))
      text += "<dt>" + escaped_html(fact.title) + "</dt><dd" + attribute("data-key", fact.key) + raw_attribute(fact.value) + ">" +
              escaped_html(display_text(fact.value, units)) + "</dd>\n";
  return text + "</dl>\n";
}

}  // namespace rematch::report
