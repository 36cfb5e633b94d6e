// Cells, facts and rows as JSON, for json and jsonl: raw values, units in the keys, null is "not measured", and there is no NaN. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "orchestrator/report/report_model.h"

namespace rematch::report {

nlohmann::ordered_json cell_json(const Cell& cell);
// By key.
nlohmann::ordered_json facts_json(const std::vector<Fact>& facts);
// By the keys of the table's columns, without those that are for text alone.
nlohmann::ordered_json row_json(const Table& table, const std::vector<Cell>& row);
// Text that is no UTF-8 is mended. indent: -1 for one line.
std::string json_text(const nlohmann::ordered_json& document, int indent);

}  // namespace rematch::report
