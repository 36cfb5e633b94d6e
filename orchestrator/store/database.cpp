#include "orchestrator/store/database.h"

#include <sqlite3.h>

#include "orchestrator/store/statement.h"
#include "orchestrator/store/store.h"

namespace rematch::store {

namespace {

// A statement that is not reset keeps its locks.
class Reset {
 public:
  explicit Reset(sqlite3_stmt* statement) : statement_(statement) {}
  ~Reset() { sqlite3_reset(statement_); }
  Reset(const Reset&) = delete;
  Reset& operator=(const Reset&) = delete;

 private:
  sqlite3_stmt* statement_;
};

}  // namespace

Database::Database(const std::filesystem::path& path) : path_(path) {
  try {
    if (sqlite3_open(path.c_str(), &connection_) != SQLITE_OK) fail("open");
    sqlite3_busy_timeout(connection_, 5000);
    execute_script("PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL;");
    execute_script("PRAGMA wal_autocheckpoint = 8192; PRAGMA cache_size = -65536;");  // pages of 4 KiB; KiB
  } catch (...) {
    sqlite3_close(connection_);
    throw;
  }
}

Database::~Database() {
  for (auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(connection_);
}

void Database::fail(const std::string& sql) const {
  throw StoreError(path_.string() + ": " + sqlite3_errmsg(connection_) + " (" + sql.substr(0, 200) + ")");
}

void Database::execute_script(const std::string& sql) {
  if (sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail(sql);
}

sqlite3_stmt* Database::prepared(const std::string& sql) {
  sqlite3_stmt*& statement = statements_[sql];
  if (statement == nullptr && sqlite3_prepare_v2(connection_, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) fail(sql);
  return statement;
}

std::vector<ValueRow> Database::query(const std::string& sql, const ValueRow& parameters) {
  sqlite3_stmt* statement = prepared(sql);
  const Reset reset_at_end(statement);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (bind_value(statement, static_cast<int>(i) + 1, parameters[i]) != SQLITE_OK) fail(sql);
  std::vector<ValueRow> rows;
  int result = SQLITE_ROW;
  while ((result = sqlite3_step(statement)) == SQLITE_ROW) rows.push_back(column_values(statement));
  if (result != SQLITE_DONE) fail(sql);
  return rows;
}

Statement Database::statement(std::string_view name, const std::function<std::string()>& make_sql) {
  const auto found = named_.find(name);
  if (found != named_.end()) return {*this, found->second};
  return {*this, named_.emplace(name, prepared(make_sql())).first->second};
}

void Statement::bind(int index, const Value& value) {
  if (bind_value(statement_, index, value) != SQLITE_OK) database_.fail(sqlite3_sql(statement_));
}

void Statement::run() {
  const Reset reset_at_end(statement_);
  if (sqlite3_step(statement_) != SQLITE_DONE) database_.fail(sqlite3_sql(statement_));
}

Transaction::Transaction(Database& database) : database_(database) { database_.run("BEGIN IMMEDIATE"); }

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.run("ROLLBACK");
  } catch (const StoreError&) {
    // SQLite has already rolled back; the error that led here is on its way.
  }
}

void Transaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

}  // namespace rematch::store
