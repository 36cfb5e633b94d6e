#include "orchestrator/store/migrations.h"

#include "orchestrator/store/store.h"
#include "schemas/protocol/write_boundary.h"

namespace rematch::store {

std::int64_t schema_version(Database& database) { return std::get<std::int64_t>(database.query("PRAGMA user_version").front().front()); }

void migrate(Database& database, const std::filesystem::path& path, const std::vector<Migration>& migrations) {
  const std::int64_t found = schema_version(database);
  const std::int64_t newest = migrations.empty() ? 0 : migrations.back().version;
  if (found > newest)
    throw StoreError(path.string() + ": its schema version is " + std::to_string(found) + ", this program knows versions up to " +
                     std::to_string(newest) +
                     "; use the newer program, or put the file aside and make it anew with `rematch ingest --rebuild`");
  if (found == newest) return;
  database.execute_script("PRAGMA journal_mode = WAL");  // stays with the file
  if (found > 0) {
    const std::filesystem::path backup = path.string() + ".backup-v" + std::to_string(found);
    std::filesystem::remove(backup);
    database.run("VACUUM INTO ?", {backup.string()});
    protocol::pass_write_boundary("copied before a migration", "database");
  }
  for (const Migration& migration : migrations) {
    if (migration.version <= found) continue;
    Transaction transaction(database);
    if (schema_version(database) >= migration.version) continue;  // another process was first
    database.execute_script(migration.sql);
    database.execute_script("PRAGMA user_version = " + std::to_string(migration.version));
    transaction.commit();
  }
}

}  // namespace rematch::store
