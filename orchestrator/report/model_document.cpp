#include "orchestrator/report/model_document.h"

#include <cmath>
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

// Figures of plots are whole numbers mostly, and many.
Json number_document(double value) {
  constexpr double kMostExact = 9'007'199'254'740'992;  // 2^53
  if (std::trunc(value) == value && std::abs(value) < kMostExact) return static_cast<std::int64_t>(value);
  return value;
}

Json number_document(const std::optional<double>& value) { return value ? number_document(*value) : Json(nullptr); }

std::optional<double> parse_number(const Json& document) {
  return document.is_null() ? std::nullopt : std::optional(document.get<double>());
}

Json to_document(const PlotAxis& axis) { return {axis.title, static_cast<int>(axis.unit), number_document(axis.up_to)}; }

PlotAxis parse_axis(const Json& document) { return {document.at(0), PlotUnit{document.at(1).get<int>()}, parse_number(document.at(2))}; }

Json to_document(const PlotSeries& series) {
  Json places = Json::array();
  for (const double x : series.x) places.push_back(number_document(x));
  Json heights = Json::array();
  for (const std::optional<double>& y : series.y) heights.push_back(number_document(y));
  return {series.name, std::move(places), std::move(heights), series.is_emphasised};
}

PlotSeries parse_series(const Json& document) {
  PlotSeries series{document.at(0), document.at(1), {}, document.at(3)};
  for (const Json& y : document.at(2)) series.y.push_back(parse_number(y));
  return series;
}

Json to_document(const Plot& plot) {
  Json document = {
      {"key", plot.key},          {"title", plot.title},      {"caption", plot.caption},       {"kind", static_cast<int>(plot.kind)},
      {"x", to_document(plot.x)}, {"y", to_document(plot.y)}, {"categories", plot.categories}, {"series", Json::array()},
      {"marks", Json::array()}};
  for (const PlotSeries& series : plot.series) document["series"].push_back(to_document(series));
  for (const PlotMark& mark : plot.marks) document["marks"].push_back({mark.at, mark.label});
  return document;
}

Plot parse_plot(const Json& document) {
  Plot plot;
  plot.key = document.at("key");
  plot.title = document.at("title");
  plot.caption = document.at("caption");
  plot.kind = PlotKind{document.at("kind").get<int>()};
  plot.x = parse_axis(document.at("x"));
  plot.y = parse_axis(document.at("y"));
  plot.categories = document.at("categories").get<std::vector<std::string>>();
  for (const Json& series : document.at("series")) plot.series.push_back(parse_series(series));
  for (const Json& mark : document.at("marks")) plot.marks.push_back({mark.at(0), mark.at(1)});
  return plot;
}

std::string dumped(const Json& document) { return document.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string model_text(const ReportModel& model) {
  Json document = {{"title", model.title},
                   {"header", to_document(model.header)},
                   {"tables", Json::array()},
                   {"answer", to_document(model.answer)},
                   {"notes", model.notes}};
  for (const Table& table : model.tables) document["tables"].push_back(to_document(table));
  return dumped(document);
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

std::string plots_text(const std::vector<Plot>& plots) {
  Json list = Json::array();
  for (const Plot& plot : plots) list.push_back(to_document(plot));
  return dumped(list);
}

std::optional<std::vector<Plot>> parse_plots(const std::string& text) {
  try {
    const Json list = Json::parse(text);
    if (!list.is_array()) return std::nullopt;
    std::vector<Plot> plots;
    for (const Json& plot : list) plots.push_back(parse_plot(plot));
    return plots;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace rematch::report
