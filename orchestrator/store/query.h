// Reading the database by questions: SQL of the caller's, or one of the canned questions, over a connection that cannot write. SQLite
// itself guards it: opened read-only, `query_only`, and an authorizer that allows nothing but reading. Called by `rematch query`.
// Threads: any, each call has a connection of its own. Failure: an Error, with SQLite's message.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
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

// What rows of a canned question must agree with; nullopt: all do.
struct QuestionFilter {
  std::optional<std::string> study;  // name or id, or the beginning of either
  std::optional<std::string> arm;
  std::optional<std::string> outcome;  // of the run, for arms and studies their own
  std::optional<std::int64_t> rank;
  std::optional<std::string> phase;
};

std::vector<std::string> question_names();  // sorted: arms, errors, failures, peaks, steps, studies
// The error names a filter that the question has no column for, or the questions there are.
base::Result<Question> canned_question(const std::string& name, const QuestionFilter& filter);

// One statement. At most `most_rows` rows are read.
base::Result<Answer> ask(const std::filesystem::path& database, const Question& question, std::int64_t most_rows);

// CREATE statements of the views, then of the tables.
base::Result<std::string> schema_text(const std::filesystem::path& database);

}  // namespace rematch::store
