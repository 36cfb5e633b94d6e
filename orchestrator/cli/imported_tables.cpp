#include "orchestrator/cli/imported_tables.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "schemas/protocol/document_error.h"
#include "schemas/protocol/record_file.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

namespace fs = std::filesystem;

namespace {

base::Result<protocol::Published> read_table(const fs::path& file) {
  try {
    protocol::Published table = protocol::read_published(file.string());
    if (table.name == file.stem()) return table;
    return base::Error{file.string() + " holds the table " + table.name + "; it is left out. A file is named after its table"};
  } catch (const protocol::DocumentError& error) {
    return base::Error{error.what()};
  }
}

std::vector<fs::path> files_of(const fs::path& workspace) {
  const fs::path folder = protocol::WorkspacePaths{workspace}.published();
  if (!fs::exists(folder)) return {};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".json" && entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::vector<std::string> imported_names(const fs::path& workspace) {
  std::vector<std::string> names;
  for (const fs::path& file : files_of(workspace)) names.push_back(file.stem());
  return names;
}

std::vector<base::Result<protocol::Published>> imported_tables(const fs::path& workspace) {
  const std::vector<fs::path> files = files_of(workspace);
  std::vector<base::Result<protocol::Published>> tables;
  for (const fs::path& file : files) tables.push_back(read_table(file));
  return tables;
}

Import write_table(const fs::path& workspace, const protocol::Published& table) {
  const protocol::WorkspacePaths paths{workspace};
  const fs::path file = paths.published(table.name);
  const std::string text = protocol::to_json(table).dump(2) + "\n";
  const auto before = protocol::read_whole_file(file);
  if (before == text) return Import::kUnchanged;
  fs::create_directories(paths.published());
  protocol::write_file_by_rename(file, text);
  return before ? Import::kReplaced : Import::kNew;
}

}  // namespace rematch::cli
