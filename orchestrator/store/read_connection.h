// A connection that cannot write: opened read-only, `query_only`, with an authorizer that allows nothing but reading. Internal to
// store/*.cpp that see sqlite3.h. Threads: one. Failure: an Error with the path and SQLite's message.
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "orchestrator/base/result.h"
#include "orchestrator/store/query.h"

struct sqlite3;

namespace rematch::store {

struct CloseConnection {
  void operator()(sqlite3* connection) const;
};
using ReadConnection = std::unique_ptr<sqlite3, CloseConnection>;

// SQLite's message of the last failure, behind the name of what was read.
base::Error sqlite_error(const std::string& where, sqlite3* connection);

// How many SQLite can read at once.
std::size_t most_databases();

// The database must be of this program's schema.
base::Result<ReadConnection> open_for_reading(const std::filesystem::path& database);

// Several at once: each is a schema of its name, read-only, and each of their tables and views is a view over all of them, of the same
// name, with a leading column `database`. At most most_databases().
base::Result<ReadConnection> open_all_for_reading(std::span<const NamedDatabase> databases);

}  // namespace rematch::store
