// Rows as aligned text: columns two spaces apart, the last one not padded. Pure.
#pragma once

#include <string>
#include <vector>

namespace rematch::cli {

using TableRow = std::vector<std::string>;
// Every row has as many columns as the first.
std::string text_table(const std::vector<TableRow>& rows);

}  // namespace rematch::cli
