#include "orchestrator/store/query.h"

#include <sqlite3.h>

#include <memory>

#include "orchestrator/store/migrations.h"
#include "orchestrator/store/statement.h"
#include "orchestrator/store/store.h"

namespace rematch::store {

namespace {

struct CloseConnection {
  void operator()(sqlite3* connection) const { sqlite3_close(connection); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Connection = std::unique_ptr<sqlite3, CloseConnection>;
using Prepared = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

int allow_reading(void*, int action, const char*, const char*, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    default: return SQLITE_DENY;
  }
}

base::Error error_of(const std::filesystem::path& path, sqlite3* connection) {
  return base::Error{path.string() + ": " + sqlite3_errmsg(connection)};
}

base::Result<Connection> connect(const std::filesystem::path& path, Log log) {
  sqlite3* opened = nullptr;
  const int result = sqlite3_open_v2(read_only_uri(path, log).c_str(), &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  Connection connection(opened);
  if (result != SQLITE_OK) return error_of(path, opened);
  sqlite3_busy_timeout(opened, static_cast<int>(kBusyDeadline.count()));
  if (sqlite3_exec(opened, "PRAGMA query_only = ON; SELECT 1 FROM sqlite_schema LIMIT 1", nullptr, nullptr, nullptr) != SQLITE_OK)
    return error_of(path, opened);
  return connection;
}

std::int64_t version_of(sqlite3* connection) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(connection, "PRAGMA user_version", -1, &statement, nullptr);
  const Prepared prepared(statement);
  return statement != nullptr && sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : -1;
}

base::Result<Connection> open_for_reading(const std::filesystem::path& path) {
  base::Result<Connection> connection = connect(path, Log::kMayBe);
  // A folder that cannot be written has no room for the files beside a log: without a log there is none to miss.
  if (!connection && !has_log(path)) connection = connect(path, Log::kNone);
  if (!connection) return connection;
  const std::int64_t found = version_of(connection.value().get());
  const std::int64_t wanted = embedded_migrations().back().version;
  if (found != wanted)
    return base::Error{
        path.string() + ": its schema version is " + std::to_string(found) + ", wanted " + std::to_string(wanted) +
        (found < wanted ? "; any verb that may write, such as `rematch report`, brings it up to date" : "; use the newer program")};
  sqlite3_set_authorizer(connection.value().get(), allow_reading, nullptr);
  return connection;
}

base::Result<Prepared> prepare_one(const std::filesystem::path& path, sqlite3* connection, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const char* rest = nullptr;
  if (sqlite3_prepare_v2(connection, sql.c_str(), static_cast<int>(sql.size()) + 1, &statement, &rest) != SQLITE_OK) {
    const bool denied = sqlite3_errcode(connection) == SQLITE_AUTH;
    return base::Error{error_of(path, connection).message + (denied ? "; a query may only read" : "")};
  }
  Prepared prepared(statement);
  if (statement == nullptr) return base::Error{"there is no statement in the query"};
  sqlite3_stmt* second = nullptr;
  const bool alone = sqlite3_prepare_v2(connection, rest, -1, &second, nullptr) == SQLITE_OK && second == nullptr;
  sqlite3_finalize(second);
  if (!alone) return base::Error{"a query is one statement; behind the first stands: " + std::string(rest).substr(0, 80)};
  return prepared;
}

base::Result<Answer> read_rows(const std::filesystem::path& path, sqlite3* connection, sqlite3_stmt* statement, std::int64_t most_rows) {
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
  if (result != SQLITE_DONE) return error_of(path, connection);
  return answer;
}

}  // namespace

base::Result<Answer> ask(const std::filesystem::path& database, const Question& question, std::int64_t most_rows) {
  const base::Result<Connection> connection = open_for_reading(database);
  if (!connection) return connection.error();
  const base::Result<Prepared> statement = prepare_one(database, connection.value().get(), question.sql);
  if (!statement) return statement.error();
  const int num_wanted = sqlite3_bind_parameter_count(statement.value().get());
  if (num_wanted != static_cast<int>(question.parameters.size()))
    return base::Error{"the query has " + std::to_string(num_wanted) + " parameters, " + std::to_string(question.parameters.size()) +
                       " values were given"};
  for (int i = 0; i < num_wanted; ++i)
    if (bind_value(statement.value().get(), i + 1, question.parameters[static_cast<std::size_t>(i)]) != SQLITE_OK)
      return error_of(database, connection.value().get());
  return read_rows(database, connection.value().get(), statement.value().get(), most_rows);
}

base::Result<std::string> schema_text(const std::filesystem::path& database) {
  const base::Result<Answer> rows =
      ask(database, {"SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND type IN ('view', 'table') ORDER BY type DESC, name", {}},
          INT64_MAX);
  if (!rows) return rows.error();
  std::string text;
  for (const ValueRow& row : rows.value().rows) text += std::get<std::string>(row.front()) + ";\n\n";
  return text;
}

}  // namespace rematch::store
