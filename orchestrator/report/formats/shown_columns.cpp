#include "orchestrator/report/formats/shown_columns.h"

#include <algorithm>

namespace rematch::report {

std::vector<ShownColumn> shown_columns(const Table& table) {
  std::vector<ShownColumn> shown;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    auto has_value = [&](const auto& row) { return !std::holds_alternative<std::monostate>(row[i]); };
    auto is_text = [&](const auto& row) { return std::holds_alternative<std::string>(row[i]); };
    if (table.columns[i].place == Place::kDataOnly || std::none_of(table.rows.begin(), table.rows.end(), has_value)) continue;
    shown.push_back({i, std::any_of(table.rows.begin(), table.rows.end(), is_text) ? Side::kLeft : Side::kRight});
  }
  return shown;
}

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace rematch::report
