// A table as LaTeX that can be pasted: plain tabular, scaled down where it is wider than a page, longtable where it has many rows and is
// no wider. Wants the packages graphicx and longtable at most. Pure.
#pragma once

#include <string>

#include "orchestrator/report/format.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

// Without its title; of a list, its entries. "none" of a table without any value.
std::string latex_table(const Table& table, ByteUnits units);

}  // namespace rematch::report
