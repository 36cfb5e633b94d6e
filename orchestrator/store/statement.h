// Values in and out of SQLite's statements. Internal to store/*.cpp that see sqlite3.h.
#pragma once

#include <memory>

#include "orchestrator/store/database.h"

namespace rematch::store {

struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const;
};
using Prepared = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

int bind_value(sqlite3_stmt* statement, int index, const Value& value);  // index is 1-based; returns SQLite's result code
ValueRow column_values(sqlite3_stmt* statement);                         // of the row that the statement stands at

}  // namespace rematch::store
