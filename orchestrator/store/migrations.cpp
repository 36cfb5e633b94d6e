#include "orchestrator/store/migrations.h"

#include "orchestrator/base/shell_text.h"
#include "orchestrator/store/store.h"
#include "schemas/protocol/trial_paths.h"
#include "schemas/protocol/write_boundary.h"

namespace rematch::store {

std::int64_t schema_version(Database& database) { return std::get<std::int64_t>(database.query("PRAGMA user_version").front().front()); }

std::string other_version_text(const std::filesystem::path& path, std::int64_t found) {
  const std::int64_t wanted = embedded_migrations().back().version;
  const std::string text =
      path.string() + ": its schema version is " + std::to_string(found) + ", this program reads version " + std::to_string(wanted) + "; ";
  if (found > wanted) return text + "use the newer program";
  const std::string name = protocol::WorkspacePaths{""}.database().string();
  const std::string folder = path.parent_path().empty() ? "." : path.parent_path().string();
  if (path.filename() == name)
    return text + "`rematch --workspace " + base::shell_quoted(folder) + " report` brings it up to date, where that folder can be written";
  return text + "put it at DIR/" + name + ", and `rematch --workspace DIR report` brings it up to date";
}

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
