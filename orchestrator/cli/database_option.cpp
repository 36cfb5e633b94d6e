#include "orchestrator/cli/database_option.h"

#include <system_error>

#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

base::Result<std::filesystem::path> find_database(const std::string& file_or_workspace) {
  std::error_code none;
  std::filesystem::path path = file_or_workspace;
  if (std::filesystem::is_directory(path, none)) path = protocol::WorkspacePaths{path}.database();
  if (std::filesystem::is_regular_file(path, none)) return path;
  return base::Error{"there is no database " + path.string() + "; wanted a file such as rematch-runs/rematch.db, or a workspace"};
}

}  // namespace rematch::cli
