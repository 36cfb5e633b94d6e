// Which columns of a table people see, and how they stand: one rule for md, html and latex. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "orchestrator/report/report_model.h"

namespace rematch::report {

enum class Side { kLeft, kRight };

struct ShownColumn {
  std::size_t index = 0;  // among the table's columns
  Side side = Side::kLeft;
};

// Those for people that have a value in some row. Numbers stand to the right; a column with any text stands to the left.
std::vector<ShownColumn> shown_columns(const Table& table);

// Places that the text takes, not bytes: UTF-8 continuation bytes take none.
std::size_t width_of(const std::string& text);

}  // namespace rematch::report
