// Reading the database by questions: SQL of the caller's, or one of the canned questions, over a connection that cannot write. SQLite
// itself guards it: opened read-only, `query_only`, and an authorizer that allows nothing but reading. Called by `rematch query`.
// Threads: any, each call has a connection of its own. Failure: a value, with SQLite's message.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/base/result.h"
#include "orchestrator/store/database.h"

namespace rematch::store {

struct Question {
  std::string sql;
  ValueRow parameters;
};

struct Answer {
  std::vector<std::string> columns;
  std::vector<ValueRow> rows;
  bool cut = false;  // there were more than `most_rows`
};

// Why there is no answer.
enum class NoAnswer {
  kRefused,  // the question: what SQLite says of its SQL
  kNotRead,  // a database: not there, of another version, held, damaged
};

// An answer, or why there is none.
class Asked {
 public:
  Asked(Answer answer) : answer_(std::move(answer)) {}  // NOLINT(google-explicit-constructor)
  Asked(NoAnswer why, base::Error error) : answer_(std::move(error)), why_(why) {}
  explicit operator bool() const { return answer_.ok(); }
  const Answer& value() const& { return answer_.value(); }
  Answer&& value() && { return std::move(answer_).value(); }
  const base::Error& error() const { return answer_.error(); }
  NoAnswer why() const { return why_; }  // where there is an error

 private:
  base::Result<Answer> answer_;
  NoAnswer why_ = NoAnswer::kNotRead;
};

// What rows of a canned question must agree with; nullopt: all do.
struct QuestionFilter {
  std::optional<std::string> study;  // name or id, or the beginning of either
  std::optional<std::string> arm;
  std::optional<std::string> outcome;  // of the run, for arms and studies their own
  std::optional<std::int64_t> rank;
  std::optional<std::string> phase;
  std::optional<std::int64_t> since_unix_ns;  // an attempt of it began then or later
};

// One of several databases that are read together.
struct NamedDatabase {
  std::string name;  // unlike the others' but for case, and neither main nor temp
  std::filesystem::path path;
};
// Named by its folder where the file is a workspace's rematch.db, else by the file; by the whole path where that would not tell it from
// the others. The error: a path is given twice.
base::Result<std::vector<NamedDatabase>> name_databases(const std::vector<std::filesystem::path>& paths);

std::vector<std::string> question_names();  // sorted
// The error names a filter that the question has no column for, or the questions there are.
base::Result<Question> canned_question(const std::string& name, const QuestionFilter& filter);

// One statement. At most `most_rows` rows are read.
Asked ask(const std::filesystem::path& database, const Question& question, std::int64_t most_rows);
// One statement over several databases: their views and tables are unions with a leading column `database`.
Asked ask_all(std::span<const NamedDatabase> databases, const Question& question, std::int64_t most_rows);
// The same question of one after the other, with a leading column `database`.
Asked ask_each(std::span<const NamedDatabase> databases, const Question& question, std::int64_t most_rows);

// The documents of the views, then the CREATE statements of views and tables.
base::Result<std::string> schema_text(const std::filesystem::path& database);

}  // namespace rematch::store
