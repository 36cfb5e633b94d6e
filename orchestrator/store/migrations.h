// Brings a database to the newest schema. The migrations are schemas/sql/*.sql, embedded at build time by cmake/EmbedSql.cmake.
// PRAGMA user_version holds the number of the last one applied. Failure: StoreError; the database is then as it was.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "orchestrator/store/database.h"

namespace rematch::store {

struct Migration {
  std::int64_t version = 0;
  std::string sql;
};

std::vector<Migration> embedded_migrations();  // ascending from 1, without gaps

std::int64_t schema_version(Database& database);

// Of a database that is only read, at another version than this program's: what was found, what was wanted, and what to do.
std::string other_version_text(const std::filesystem::path& path, std::int64_t found);

// Applies what is missing, each in its own transaction, after a copy to <path>.backup-v<version> when there was something before. A newer
// database is refused.
void migrate(Database& database, const std::filesystem::path& path, const std::vector<Migration>& migrations);

}  // namespace rematch::store
