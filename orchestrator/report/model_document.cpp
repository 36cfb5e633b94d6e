#include "orchestrator/report/model_document.h"

#include <nlohmann/json.hpp>

namespace rematch::report {

namespace {

using Json = nlohmann::json;

Json value_of(std::monostate) { return nullptr; }
Json value_of(const std::string& text) { return text; }
template <typename Number>
Json value_of(const Number& number) {
  return number.value;
}

// A cell is [kind, value]: the kind is its place among the kinds of cells.
Json to_document(const Cell& cell) {
  return {cell.index(), std::visit([](const auto& value) { return value_of(value); }, cell)};
}

template <std::size_t Kind = 0>
Cell cell_of(std::size_t kind, const Json& value) {
  if constexpr (Kind == std::variant_size_v<Cell>) {
    throw Json::other_error::create(501, "unknown kind of cell", &value);
  } else {
    using Held = std::variant_alternative_t<Kind, Cell>;
    if (kind != Kind) return cell_of<Kind + 1>(kind, value);
    if constexpr (std::is_same_v<Held, std::monostate>) {
      return Cell{};
    } else if constexpr (std::is_same_v<Held, std::string>) {
      return value.get<std::string>();
    } else {
      return Held{value.get<decltype(Held::value)>()};
    }
  }
}

Cell parse_cell(const Json& document) { return cell_of(document.at(0).get<std::size_t>(), document.at(1)); }

Json to_document(const std::vector<Fact>& facts) {
  Json list = Json::array();
  for (const Fact& fact : facts) list.push_back({fact.key, fact.title, to_document(fact.value)});
  return list;
}

std::vector<Fact> parse_facts(const Json& list) {
  std::vector<Fact> facts;
  for (const Json& fact : list) facts.push_back({fact.at(0), fact.at(1), parse_cell(fact.at(2))});
  return facts;
}

Json to_document(const Table& table) {
  Json columns = Json::array();
  for (const Column& column : table.columns) columns.push_back({column.key, column.title, static_cast<int>(column.place)});
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json& cells = rows.emplace_back(Json::array());
    for (const Cell& cell : row) cells.push_back(to_document(cell));
  }
  return {{"key", table.key},
          {"title", table.title},
          {"columns", std::move(columns)},
          {"rows", std::move(rows)},
          {"place", static_cast<int>(table.place)},
          {"in_csv", table.in_csv},
          {"as_list", table.as_list}};
}

Table parse_table(const Json& document) {
  Table table;
  table.key = document.at("key");
  table.title = document.at("title");
  for (const Json& column : document.at("columns")) table.columns.push_back({column.at(0), column.at(1), Place{column.at(2).get<int>()}});
  for (const Json& cells : document.at("rows")) {
    auto& row = table.rows.emplace_back();
    for (const Json& cell : cells) row.push_back(parse_cell(cell));
  }
  table.place = Place{document.at("place").get<int>()};
  table.in_csv = document.at("in_csv");
  table.as_list = document.at("as_list");
  return table;
}

}  // namespace

std::string model_text(const ReportModel& model) {
  Json document = {{"title", model.title},
                   {"header", to_document(model.header)},
                   {"tables", Json::array()},
                   {"answer", to_document(model.answer)},
                   {"notes", model.notes}};
  for (const Table& table : model.tables) document["tables"].push_back(to_document(table));
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<ReportModel> parse_model(const std::string& text) {
  try {
    const Json document = Json::parse(text);
    ReportModel model;
    model.title = document.at("title");
    model.header = parse_facts(document.at("header"));
    for (const Json& table : document.at("tables")) model.tables.push_back(parse_table(table));
    model.answer = parse_facts(document.at("answer"));
    model.notes = document.at("notes").get<std::vector<std::string>>();
    return model;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace rematch::report
