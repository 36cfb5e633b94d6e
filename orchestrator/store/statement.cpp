#include "orchestrator/store/statement.h"

#include <sqlite3.h>

namespace rematch::store {

namespace {

struct Bind {
  sqlite3_stmt* statement;
  int index;
  int operator()(std::monostate) const { return sqlite3_bind_null(statement, index); }
  int operator()(std::int64_t value) const { return sqlite3_bind_int64(statement, index, value); }
  int operator()(double value) const { return sqlite3_bind_double(statement, index, value); }
  int operator()(const std::string& text) const {
    return sqlite3_bind_text64(statement, index, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  }
};

Value column_value(sqlite3_stmt* statement, int index) {
  switch (sqlite3_column_type(statement, index)) {
    case SQLITE_INTEGER: return static_cast<std::int64_t>(sqlite3_column_int64(statement, index));
    case SQLITE_FLOAT: return sqlite3_column_double(statement, index);
    case SQLITE_NULL: return std::monostate{};
    default: break;
  }
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, index));
  return std::string(bytes, bytes + sqlite3_column_bytes(statement, index));
}

}  // namespace

void FinalizeStatement::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

int bind_value(sqlite3_stmt* statement, int index, const Value& value) { return std::visit(Bind{statement, index}, value); }

ValueRow column_values(sqlite3_stmt* statement) {
  const int num_columns = sqlite3_column_count(statement);
  ValueRow row;
  row.reserve(static_cast<std::size_t>(num_columns));
  for (int i = 0; i < num_columns; ++i) row.push_back(column_value(statement, i));
  return row;
}

}  // namespace rematch::store
