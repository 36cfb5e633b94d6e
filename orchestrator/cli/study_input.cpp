#include "orchestrator/cli/study_input.h"

#include <ostream>

#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

std::variant<store::Store, Exit> open_store(const GlobalOptions& options, Streams streams) {
  const std::filesystem::path database = protocol::WorkspacePaths{options.workspace}.database();
  if (!std::filesystem::exists(database)) {
    streams.err << "rematch: there is no database " << database.string()
                << "; `rematch run SWEEP` makes one, `rematch ingest` rebuilds one, --workspace names another place\n";
    return Exit::kEnvironment;
  }
  base::Result<store::Store> opened = store::Store::open(database);
  if (opened) return std::move(opened).value();
  streams.err << "rematch: " << opened.error().message << "\n";
  return Exit::kEnvironment;
}

std::variant<base::StudyRows, Exit> load_study(const std::string& key, const GlobalOptions& options, Streams streams) {
  const auto opened = open_store(options, streams);
  if (const Exit* exit = std::get_if<Exit>(&opened)) return *exit;
  base::Result<base::StudyRows> study = std::get<store::Store>(opened).load_study(key);
  if (study) return std::move(study).value();
  streams.err << "rematch: " << study.error().message << "\n";
  return Exit::kUsage;
}

}  // namespace rematch::cli
