#include "orchestrator/store/query.h"

#include <sqlite3.h>

#include <utility>

#include "orchestrator/store/read_connection.h"
#include "orchestrator/store/statement.h"
#include "orchestrator/store/view_documents.h"

namespace rematch::store {

namespace {

base::Result<Prepared> prepare_one(const std::string& where, sqlite3* connection, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const char* rest = nullptr;
  if (sqlite3_prepare_v2(connection, sql.c_str(), static_cast<int>(sql.size()) + 1, &statement, &rest) != SQLITE_OK) {
    const bool denied = sqlite3_errcode(connection) == SQLITE_AUTH;
    return base::Error{sqlite_error(where, connection).message + (denied ? "; a query may only read" : "")};
  }
  Prepared prepared(statement);
  if (statement == nullptr) return base::Error{"there is no statement in the query"};
  sqlite3_stmt* second = nullptr;
  const bool alone = sqlite3_prepare_v2(connection, rest, -1, &second, nullptr) == SQLITE_OK && second == nullptr;
  sqlite3_finalize(second);
  if (!alone) return base::Error{"a query is one statement; behind the first stands: " + std::string(rest).substr(0, 80)};
  return prepared;
}

// The database and not the question is at fault.
bool is_of_database(int code) {
  switch (code & 0xff) {
    case SQLITE_PERM:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_NOMEM:
    case SQLITE_READONLY:
    case SQLITE_IOERR:
    case SQLITE_CORRUPT:
    case SQLITE_FULL:
    case SQLITE_CANTOPEN:
    case SQLITE_PROTOCOL:
    case SQLITE_NOTADB: return true;
    default: return false;
  }
}

// Of the last failure.
NoAnswer why_not(sqlite3* connection) { return is_of_database(sqlite3_errcode(connection)) ? NoAnswer::kNotRead : NoAnswer::kRefused; }

Asked read_rows(const std::string& where, sqlite3* connection, sqlite3_stmt* statement, std::int64_t most_rows) {
  Answer answer;
  const int num_columns = sqlite3_column_count(statement);
  for (int i = 0; i < num_columns; ++i) answer.columns.emplace_back(sqlite3_column_name(statement, i));
  int result = SQLITE_ROW;
  while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
    if (static_cast<std::int64_t>(answer.rows.size()) == most_rows) {
      answer.cut = true;
      return answer;
    }
    answer.rows.push_back(column_values(statement));
  }
  if (result != SQLITE_DONE) return {why_not(connection), sqlite_error(where, connection)};
  return answer;
}

Asked ask_over(sqlite3* connection, const std::string& where, const Question& question, std::int64_t most_rows) {
  const base::Result<Prepared> statement = prepare_one(where, connection, question.sql);
  if (!statement) return {why_not(connection), statement.error()};
  const int num_wanted = sqlite3_bind_parameter_count(statement.value().get());
  if (num_wanted != static_cast<int>(question.parameters.size()))
    return {NoAnswer::kRefused, base::Error{"the query has " + std::to_string(num_wanted) + " parameters, " +
                                            std::to_string(question.parameters.size()) + " values were given"}};
  for (int i = 0; i < num_wanted; ++i)
    if (bind_value(statement.value().get(), i + 1, question.parameters[static_cast<std::size_t>(i)]) != SQLITE_OK)
      return {NoAnswer::kRefused, sqlite_error(where, connection)};
  return read_rows(where, connection, statement.value().get(), most_rows);
}

std::string listed(std::span<const NamedDatabase> databases) {
  std::string text;
  for (const NamedDatabase& database : databases) text += (text.empty() ? "" : ", ") + database.path.string();
  return text;
}

}  // namespace

Asked ask(const std::filesystem::path& database, const Question& question, std::int64_t most_rows) {
  const base::Result<ReadConnection> connection = open_for_reading(database);
  if (!connection) return {NoAnswer::kNotRead, connection.error()};
  return ask_over(connection.value().get(), database.string(), question, most_rows);
}

Asked ask_all(std::span<const NamedDatabase> databases, const Question& question, std::int64_t most_rows) {
  if (const std::size_t most = most_databases(); databases.size() > most)
    return {NoAnswer::kRefused, base::Error{"one statement can read " + std::to_string(most) + " databases at most, found " +
                                            std::to_string(databases.size()) + "; the canned questions take any number"}};
  const base::Result<ReadConnection> connection = open_all_for_reading(databases);
  if (!connection) return {NoAnswer::kNotRead, connection.error()};
  return ask_over(connection.value().get(), listed(databases), question, most_rows);
}

Asked ask_each(std::span<const NamedDatabase> databases, const Question& question, std::int64_t most_rows) {
  Answer all;
  for (const NamedDatabase& database : databases) {
    Asked one = ask(database.path, question, most_rows - static_cast<std::int64_t>(all.rows.size()));
    if (!one) return one;
    Answer answer = std::move(one).value();
    all.cut = all.cut || answer.cut;
    all.columns = std::move(answer.columns);
    for (ValueRow& row : answer.rows) {
      row.insert(row.begin(), database.name);
      all.rows.push_back(std::move(row));
    }
  }
  all.columns.insert(all.columns.begin(), "database");
  return all;
}

base::Result<std::string> schema_text(const std::filesystem::path& database) {
  const Asked rows =
      ask(database, {"SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND type IN ('view', 'table') ORDER BY type DESC, name", {}},
          INT64_MAX);
  if (!rows) return rows.error();
  std::string text = view_documents() + "\n## As SQL: the views, then the tables below them\n\n";
  for (const ValueRow& row : rows.value().rows) text += std::get<std::string>(row.front()) + ";\n\n";
  return text;
}

}  // namespace rematch::store
