#include "orchestrator/store/columns.h"

#include "orchestrator/base/joined_text.h"

namespace rematch::store {

namespace {

std::string upsert_clause(const Key& key, const std::vector<std::string>& columns) {
  std::vector<std::string> keys;
  for (const auto& [name, value] : key) keys.push_back(name);
  std::vector<std::string> updates;
  for (const std::string& name : columns) updates.push_back(name + " = excluded." + name);
  return " ON CONFLICT (" + base::joined(keys, ", ") + ") DO UPDATE SET " + base::joined(updates, ", ");
}

}  // namespace

std::string insert_sql(const std::string& table, const Key& key, const std::vector<std::string>& columns, OnConflict on_conflict) {
  std::vector<std::string> names;
  for (const auto& [name, value] : key) names.push_back(name);
  names.insert(names.end(), columns.begin(), columns.end());
  const std::vector<std::string> marks(names.size(), "?");
  std::string sql = "INSERT INTO " + table + " (" + base::joined(names, ", ") + ") VALUES (" + base::joined(marks, ", ") + ")";
  if (on_conflict == OnConflict::kUpdate) sql += upsert_clause(key, columns);
  return sql;
}

void insert_values(Database& database, const std::string& table, const Key& key, const ColumnWriter& columns, OnConflict on_conflict) {
  ValueRow values;
  for (const auto& [name, value] : key) values.push_back(value);
  values.insert(values.end(), columns.values.begin(), columns.values.end());
  database.run(insert_sql(table, key, columns.names, on_conflict), values);
}

std::vector<ValueRow> select_values(Database& database, const std::string& table, const std::vector<std::string>& columns, const Key& where,
                                    const std::string& order_by) {
  std::vector<std::string> conditions;
  ValueRow values;
  for (const auto& [name, value] : where) {
    conditions.push_back(name + " = ?");
    values.push_back(value);
  }
  return database.query(
      "SELECT " + base::joined(columns, ", ") + " FROM " + table + " WHERE " + base::joined(conditions, " AND ") + " ORDER BY " + order_by,
      values);
}

}  // namespace rematch::store
