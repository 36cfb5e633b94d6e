#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "orchestrator/store/query.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::store {

namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string short_name(const std::filesystem::path& path) {
  const std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
  const bool is_workspace = whole.filename() == protocol::WorkspacePaths{""}.database().filename();
  return (is_workspace ? whole.parent_path() : whole).filename().string();
}

}  // namespace

base::Result<std::vector<NamedDatabase>> name_databases(const std::vector<std::filesystem::path>& paths) {
  std::set<std::filesystem::path> seen;
  std::map<std::string, int> counts = {{"main", 1}, {"temp", 1}, {"", 1}};
  for (const std::filesystem::path& path : paths) {
    if (!seen.insert(std::filesystem::weakly_canonical(path)).second)
      return base::Error{"the database " + path.string() + " is given twice; each is read once"};
    ++counts[lower(short_name(path))];
  }
  std::vector<NamedDatabase> databases;
  for (const std::filesystem::path& path : paths) {
    const std::string name = short_name(path);
    const bool tells = counts[lower(name)] == 1;
    databases.push_back({tells ? name : std::filesystem::absolute(path).lexically_normal().string(), path});
  }
  return databases;
}

}  // namespace rematch::store
