#include "orchestrator/report/formats/cell_json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

namespace rematch::report {

namespace {

using Json = nlohmann::ordered_json;

struct CellJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(const std::string& text) const { return text; }
  template <typename Quantity>
  Json operator()(Quantity quantity) const {
    if constexpr (std::is_integral_v<decltype(quantity.value)>)
      return quantity.value;
    else
      return std::isfinite(quantity.value) ? Json(quantity.value) : Json(nullptr);
  }
};

}  // namespace

Json cell_json(const Cell& cell) { return std::visit(CellJson{}, cell); }

Json facts_json(const std::vector<Fact>& facts) {
  Json object = Json::object();
  for (const Fact& fact : facts) object[fact.key] = cell_json(fact.value);
  return object;
}

Json row_json(const Table& table, const std::vector<Cell>& row) {
  Json object = Json::object();
  for (std::size_t i = 0; i < row.size(); ++i)
    if (table.columns[i].place != Place::kTextOnly) object[table.columns[i].key] = cell_json(row[i]);
  return object;
}

std::string json_text(const Json& document, int indent) { return document.dump(indent, ' ', false, Json::error_handler_t::replace); }

}  // namespace rematch::report
