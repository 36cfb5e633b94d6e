// One description of a table serves writing and reading it: describe(column, row) names every column with the member it holds, and three
// visitors walk it: ColumnNames, ColumnBinder, ColumnReader. ColumnWriter gathers columns that no row struct has. Row descriptions stand in
// row_columns.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orchestrator/store/values.h"

namespace rematch::store {

class ColumnNames {
 public:
  template <typename T>
  void operator()(const char* name, const T&) {
    names.emplace_back(name);
  }
  // A part of a row that may be missing as a whole: `flag` says whether it is there, its columns are NULL otherwise.
  template <typename T, typename Describe>
  void part(const char* flag, const std::optional<T>&, Describe describe) {
    names.emplace_back(flag);
    const T blank;
    describe(*this, blank);
  }

  std::vector<std::string> names;
};

class ColumnWriter {
 public:
  template <typename T>
  void operator()(const char* name, const T& member) {
    names.emplace_back(name);
    values.push_back(to_value(member));
  }

  std::vector<std::string> names;
  ValueRow values;
};

// Binds the values of a row to its statement.
class ColumnBinder {
 public:
  ColumnBinder(Statement& statement, int num_bound) : statement_(statement), num_bound_(num_bound) {}
  template <typename T>
  void operator()(const char*, const T& member) {
    statement_.bind(++num_bound_, blank_ ? Value{} : to_value(member));
  }
  template <typename T, typename Describe>
  void part(const char* flag, const std::optional<T>& maybe, Describe describe) {
    (*this)(flag, maybe.has_value());
    const T nothing;
    blank_ = !maybe;
    describe(*this, maybe ? *maybe : nothing);
    blank_ = false;
  }

 private:
  Statement& statement_;
  int num_bound_;
  bool blank_ = false;
};

class ColumnReader {
 public:
  explicit ColumnReader(const ValueRow& values) : values_(values) {}
  template <typename T>
  void operator()(const char*, T& member) {
    const Value& value = values_.at(next_++);
    if (!blank_) from_value(value, member);
  }
  template <typename T, typename Describe>
  void part(const char* flag, std::optional<T>& maybe, Describe describe) {
    bool is_there = false;
    (*this)(flag, is_there);
    T row;
    blank_ = !is_there;
    describe(*this, row);
    blank_ = false;
    if (is_there) maybe = std::move(row);
  }

 private:
  const ValueRow& values_;
  std::size_t next_ = 0;
  bool blank_ = false;
};

// The columns that say which row it is, with their values.
using Key = std::vector<std::pair<std::string, Value>>;

enum class OnConflict { kFail, kUpdate };  // kUpdate: a row with this key gets the new values

void insert_values(Database& database, const std::string& table, const Key& key, const ColumnWriter& columns, OnConflict on_conflict);
std::vector<ValueRow> select_values(Database& database, const std::string& table, const std::vector<std::string>& columns, const Key& where,
                                    const std::string& order_by);

std::string insert_sql(const std::string& table, const Key& key, const std::vector<std::string>& columns, OnConflict on_conflict);

// A table has one Row type and one set of key columns, so that its statement is made once.
template <typename Row>
void insert_row(Database& database, std::string_view table, const Key& key, const Row& row) {
  Statement statement = database.statement(table, [&] {
    ColumnNames columns;
    describe(columns, row);
    return insert_sql(std::string(table), key, columns.names, OnConflict::kFail);
  });
  int index = 0;
  for (const auto& [name, value] : key) statement.bind(++index, value);
  ColumnBinder binder(statement, index);
  describe(binder, row);
  statement.run();
}

template <typename Row>
std::vector<Row> select_rows(Database& database, const std::string& table, const Key& where, const std::string& order_by) {
  ColumnNames columns;
  const Row blank;
  describe(columns, blank);
  std::vector<Row> rows;
  for (const ValueRow& values : select_values(database, table, columns.names, where, order_by)) {
    ColumnReader reader(values);
    describe(reader, rows.emplace_back());
  }
  return rows;
}

}  // namespace rematch::store
