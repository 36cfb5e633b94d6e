#include "orchestrator/cli/study_input.h"

#include <ostream>

#include "orchestrator/store/store.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

std::variant<base::StudyRows, Exit> load_study(const std::string& key, const GlobalOptions& options, Streams streams) {
  const std::filesystem::path database = protocol::WorkspacePaths{options.workspace}.database();
  auto complain = [&](const std::string& message, Exit exit) {
    streams.err << "rematch: " << message << "\n";
    return exit;
  };
  if (!std::filesystem::exists(database))
    return complain("there is no database " + database.string() +
                        "; `rematch run SWEEP` makes one, `rematch ingest` rebuilds one, --workspace names "
                        "another place",
                    Exit::kEnvironment);
  const base::Result<store::Store> opened = store::Store::open(database);
  if (!opened) return complain(opened.error().message, Exit::kEnvironment);
  base::Result<base::StudyRows> study = opened.value().load_study(key);
  if (!study) return complain(study.error().message, Exit::kUsage);
  return std::move(study).value();
}

}  // namespace rematch::cli
