#include "orchestrator/store/inspect.h"

#include "orchestrator/store/database.h"
#include "orchestrator/store/migrations.h"
#include "orchestrator/store/store.h"

namespace rematch::store {

namespace fs = std::filesystem;

base::Result<DatabaseState> inspect_database(const fs::path& path) {
  try {
    Database database(path, only_readable(path) ? Access::kReadOnly : Access::kReadWrite);
    DatabaseState state{schema_version(database), embedded_migrations().back().version, {}};
    for (const ValueRow& row : database.query("PRAGMA quick_check(5)"))
      if (const auto* text = std::get_if<std::string>(&row.front()); text != nullptr && *text != "ok") state.damage.push_back(*text);
    return state;
  } catch (const StoreError& error) {
    return base::Error{error.what()};
  }
}

// The log goes first: beside another database it would be taken for that one's.
fs::path put_database_aside(const fs::path& path) {
  int number = 1;
  while (fs::exists(path.string() + ".aside-" + std::to_string(number))) ++number;
  fs::path aside = path.string() + ".aside-" + std::to_string(number);
  for (const char* suffix : {"-wal", "-shm", ""})
    if (fs::exists(path.string() + suffix)) fs::rename(path.string() + suffix, aside.string() + suffix);
  return aside;
}

}  // namespace rematch::store
