#include "orchestrator/store/read_connection.h"

#include <sqlite3.h>

#include <string>
#include <vector>

#include "orchestrator/store/migrations.h"
#include "orchestrator/store/statement.h"

namespace rematch::store {

namespace {

int allow_reading(void*, int action, const char*, const char*, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    default: return SQLITE_DENY;
  }
}

bool executes(sqlite3* connection, const std::string& sql) {
  return sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
}

std::vector<ValueRow> rows_of(sqlite3* connection, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(connection, sql.c_str(), -1, &statement, nullptr);
  const Prepared prepared(statement);
  std::vector<ValueRow> rows;
  while (statement != nullptr && sqlite3_step(statement) == SQLITE_ROW) rows.push_back(column_values(statement));
  return rows;
}

std::string quoted(const std::string& name, char mark = '"') {
  std::string text(1, mark);
  for (const char each : name) text += each == mark ? std::string(2, mark) : std::string(1, each);
  return text + mark;
}

// SQLite makes a table of such a function at its first use, which would be denied later.
constexpr const char* kMakeTablesOfFunctions = "SELECT 1 FROM json_each('[]'); SELECT 1 FROM json_tree('[]');";

base::Result<ReadConnection> connect(const std::string& uri, const std::string& where) {
  sqlite3* opened = nullptr;
  const int result = sqlite3_open_v2(uri.c_str(), &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  ReadConnection connection(opened);
  if (result != SQLITE_OK) return sqlite_error(where, opened);
  sqlite3_busy_timeout(opened, static_cast<int>(kBusyDeadline.count()));
  if (!executes(opened, std::string(kMakeTablesOfFunctions) + "PRAGMA query_only = ON; SELECT 1 FROM sqlite_schema LIMIT 1"))
    return sqlite_error(where, opened);
  return connection;
}

// Empty: it is this program's.
std::string wrong_version(sqlite3* connection, const std::string& schema, const std::filesystem::path& path) {
  const auto rows = rows_of(connection, "PRAGMA " + quoted(schema) + ".user_version");
  const std::int64_t found = rows.empty() ? -1 : std::get<std::int64_t>(rows.front().front());
  return found == embedded_migrations().back().version ? "" : other_version_text(path, found);
}

bool attach(sqlite3* connection, const NamedDatabase& database, Log log) {
  return executes(connection, "ATTACH " + quoted(read_only_uri(database.path, log), '\'') + " AS " + quoted(database.name));
}

// Empty: it is there.
std::string why_not_attached(sqlite3* connection, const NamedDatabase& database) {
  if (!attach(connection, database, Log::kMayBe) && (has_log(database.path) || !attach(connection, database, Log::kNone)))
    return sqlite_error(database.path.string(), connection).message;
  return wrong_version(connection, database.name, database.path);
}

// Tables and views of all of them, by name: they are of one schema version.
std::string views_over_all(sqlite3* connection, std::span<const NamedDatabase> databases) {
  std::string script;
  for (const ValueRow& row : rows_of(connection, "SELECT name FROM " + quoted(databases.front().name) +
                                                     ".sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%'")) {
    const std::string name = quoted(std::get<std::string>(row.front()));
    std::string parts;
    for (const NamedDatabase& database : databases)
      parts += (parts.empty() ? "" : " UNION ALL ") + ("SELECT " + quoted(database.name, '\'') + " AS database, * FROM ") +
               quoted(database.name) + "." + name;
    script += "CREATE TEMP VIEW " + name + " AS " + parts + ";\n";
  }
  return script;
}

}  // namespace

void CloseConnection::operator()(sqlite3* connection) const { sqlite3_close(connection); }

std::size_t most_databases() {
  sqlite3* opened = nullptr;
  sqlite3_open(":memory:", &opened);
  const ReadConnection connection(opened);
  return opened == nullptr ? 0 : static_cast<std::size_t>(sqlite3_limit(opened, SQLITE_LIMIT_ATTACHED, -1));
}

base::Error sqlite_error(const std::string& where, sqlite3* connection) { return base::Error{where + ": " + sqlite3_errmsg(connection)}; }

base::Result<ReadConnection> open_for_reading(const std::filesystem::path& path) {
  base::Result<ReadConnection> connection = connect(read_only_uri(path, Log::kMayBe), path.string());
  // A folder that cannot be written has no room for the files beside a log: without a log there is none to miss.
  if (!connection && !has_log(path)) connection = connect(read_only_uri(path, Log::kNone), path.string());
  if (!connection) return connection;
  if (const std::string wrong = wrong_version(connection.value().get(), "main", path); !wrong.empty()) return base::Error{wrong};
  sqlite3_set_authorizer(connection.value().get(), allow_reading, nullptr);
  return connection;
}

base::Result<ReadConnection> open_all_for_reading(std::span<const NamedDatabase> databases) {
  sqlite3* opened = nullptr;
  const int result = sqlite3_open_v2(":memory:", &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, nullptr);
  ReadConnection connection(opened);
  if (result != SQLITE_OK) return sqlite_error("a connection", opened);
  sqlite3_busy_timeout(opened, static_cast<int>(kBusyDeadline.count()));
  for (const NamedDatabase& database : databases)
    if (const std::string why = why_not_attached(opened, database); !why.empty()) return base::Error{why};
  if (!executes(opened, views_over_all(opened, databases) + kMakeTablesOfFunctions + "PRAGMA query_only = ON"))
    return sqlite_error("the views over all", opened);
  sqlite3_set_authorizer(opened, allow_reading, nullptr);
  return connection;
}

}  // namespace rematch::store
