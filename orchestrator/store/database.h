// A thin owner of one SQLite connection: statements in, values out. The only folder that sees sqlite3.h, and only in its .cpp files.
// Threads: one. Failure: StoreError with the statement and SQLite's message. Ownership: closes in its destructor.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace rematch::store {

using Value = std::variant<std::monostate, std::int64_t, double, std::string>;
using ValueRow = std::vector<Value>;

enum class Access {
  kReadWrite,  // creates the file when there is none
  kReadOnly,   // leaves no trace in the folder, which need not be writable
};

// How long a statement waits for another connection.
inline constexpr std::chrono::milliseconds kBusyDeadline{5'000};

// There is a write-ahead log beside it with something in it.
bool has_log(const std::filesystem::path& database);

// As SQLite's URI wants it, to open it for reading. Without a log there is nothing but the file, and SQLite needs no lock and no file
// beside it.
enum class Log { kNone, kMayBe };
std::string read_only_uri(const std::filesystem::path& database, Log log);

// There is such a file, and it or its folder cannot be written.
bool only_readable(const std::filesystem::path& database);

class Database;

// One prepared statement of a connection, for a row written again and again: bind every parameter, then run. Borrowed from its Database.
class Statement {
 public:
  void bind(int index, const Value& value);  // 1-based
  void run();

 private:
  friend class Database;
  Statement(Database& database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}
  Database& database_;
  sqlite3_stmt* statement_;
};

class Database {
 public:
  // Foreign keys on; waits up to five seconds for another connection. Writes nothing: the journal is chosen by the caller.
  explicit Database(const std::filesystem::path& path, Access access = Access::kReadWrite);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void execute_script(const std::string& sql);
  // One statement with `?` parameters; prepared once and kept.
  std::vector<ValueRow> query(const std::string& sql, const ValueRow& parameters = {});
  void run(const std::string& sql, const ValueRow& parameters = {}) { query(sql, parameters); }
  // The statement of that name; make_sql() is called the first time only.
  Statement statement(std::string_view name, const std::function<std::string()>& make_sql);

 private:
  friend class Statement;
  friend class Transaction;
  [[noreturn]] void fail(const std::string& sql) const;
  sqlite3_stmt* prepared(const std::string& sql);

  std::filesystem::path path_;
  sqlite3* connection_ = nullptr;
  std::map<std::string, sqlite3_stmt*> statements_;
  std::map<std::string, sqlite3_stmt*, std::less<>> named_;  // of statements_
  int num_open_transactions_ = 0;                            // each inside the one before
};

// Rolls back unless commit() was reached. Inside another one it is a part of that: the outermost commits.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace rematch::store
