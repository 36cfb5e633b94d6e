#include "orchestrator/store/database.h"

#include <sqlite3.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "orchestrator/store/statement.h"
#include "orchestrator/store/store.h"
#include "schemas/protocol/write_boundary.h"

namespace rematch::store {

namespace {

StoreProblem problem_of(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return StoreProblem::kBusy;
    case SQLITE_FULL: return StoreProblem::kFull;
    case SQLITE_READONLY: return StoreProblem::kReadOnly;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return StoreProblem::kCorrupt;
    default: return StoreProblem::kOther;
  }
}

// What to do about it; the trial folders hold everything that the database does.
std::string advice(StoreProblem problem) {
  switch (problem) {
    case StoreProblem::kBusy:
      return ". Another process held it for over " + std::to_string(kBusyDeadline.count() / 1000) +
             " s: end what has a transaction open in it, then try again";
    case StoreProblem::kFull: return ". The disk is full. Free space, then try again: what was done stays done";
    case StoreProblem::kReadOnly: return ". Wanted a file and a folder that can be written";
    case StoreProblem::kCorrupt:
      return ". The file is damaged, or no database. The trial folders hold everything: `rematch ingest --rebuild` puts it aside and makes "
             "it anew";
    case StoreProblem::kOther: return "";
  }
  return "";
}

bool has_no_space(const std::filesystem::path& path) {
  constexpr std::uint64_t kFewBytes = 64 << 10;
  struct statvfs disk {};
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  return ::statvfs(folder.c_str(), &disk) == 0 && static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize < kFewBytes;
}

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

bool has_log(const std::filesystem::path& database) {
  std::error_code none;
  const auto log_bytes = std::filesystem::file_size(database.string() + "-wal", none);
  return !none && log_bytes > 0;
}

std::string read_only_uri(const std::filesystem::path& database, Log log) {
  std::string uri = "file:";
  for (const char each : std::filesystem::absolute(database).string()) {
    if (each == '%' || each == '?' || each == '#')
      uri += each == '%' ? "%25" : each == '?' ? "%3f" : "%23";
    else
      uri += each;
  }
  return uri + (log == Log::kNone ? "?immutable=1" : "?mode=ro");
}

bool only_readable(const std::filesystem::path& database) {
  const std::filesystem::path folder = database.has_parent_path() ? database.parent_path() : ".";
  return ::access(database.c_str(), F_OK) == 0 && (::access(folder.c_str(), W_OK) != 0 || ::access(database.c_str(), W_OK) != 0);
}

Database::Database(const std::filesystem::path& path, Access access) : path_(path) {
  const bool reads = access == Access::kReadOnly;
  const std::string name = reads ? read_only_uri(path, has_log(path) ? Log::kMayBe : Log::kNone) : path.string();
  const int flags = reads ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  try {
    if (sqlite3_open_v2(name.c_str(), &connection_, flags, nullptr) != SQLITE_OK) fail("open");
    sqlite3_busy_timeout(connection_, static_cast<int>(kBusyDeadline.count()));
    execute_script("PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL;");
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
  StoreProblem problem = problem_of(sqlite3_errcode(connection_));
  if (problem == StoreProblem::kOther && has_no_space(path_)) problem = StoreProblem::kFull;  // its shared memory could not grow
  throw StoreError(path_.string() + ": " + sqlite3_errmsg(connection_) + " (" + sql.substr(0, 200) + ")" + advice(problem), problem);
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

Transaction::Transaction(Database& database) : database_(database) {
  if (database_.num_open_transactions_ == 0) {
    database_.run("BEGIN IMMEDIATE");
    protocol::pass_write_boundary("transaction begun", "database");
  }
  ++database_.num_open_transactions_;
}

Transaction::~Transaction() {
  if (!open_) return;
  if (--database_.num_open_transactions_ > 0) return;  // the outermost rolls all back: the error that led here passes it
  try {
    database_.run("ROLLBACK");
  } catch (const StoreError&) {
    // SQLite has already rolled back; the error that led here is on its way.
  }
}

void Transaction::commit() {
  if (database_.num_open_transactions_ == 1) {
    protocol::pass_write_boundary("rows written", "database");
    database_.run("COMMIT");
    protocol::pass_write_boundary("transaction committed", "database");
  }
  --database_.num_open_transactions_;
  open_ = false;
}

}  // namespace rematch::store
