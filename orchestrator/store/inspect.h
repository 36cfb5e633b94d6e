// A look at a database that changes nothing in it: which schema it has and whether it is sound. Called by `doctor`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "orchestrator/base/result.h"

namespace rematch::store {

struct DatabaseState {
  std::int64_t version = 0;         // of its schema; 0: it was never filled
  std::int64_t newest_version = 0;  // that this program knows
  std::vector<std::string> damage;  // what SQLite's quick_check says, at most five; empty: sound
};

// The file must be there. The error says why it cannot be read, and what to do.
base::Result<DatabaseState> inspect_database(const std::filesystem::path& path);

// Renames the database, and the files beside it, to a name that is free, which it returns: <database>.aside-<n>. Throws
// std::filesystem::filesystem_error.
std::filesystem::path put_database_aside(const std::filesystem::path& path);

}  // namespace rematch::store
