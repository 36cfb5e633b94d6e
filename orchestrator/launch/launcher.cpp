#include "orchestrator/launch/launcher.h"

#include <map>

namespace rematch::launch {

namespace {

std::map<std::string, MakeLauncher>& table() {
  static std::map<std::string, MakeLauncher> launchers;
  return launchers;
}

}  // namespace

void register_launcher(const std::string& name, MakeLauncher make) { table()[name] = make; }

std::vector<std::string> launcher_names() {
  std::vector<std::string> names;
  for (const auto& [name, make] : table()) names.push_back(name);
  return names;
}

base::Result<std::unique_ptr<Launcher>> make_launcher(const std::string& name) {
  const auto found = table().find(name);
  if (found != table().end()) return found->second();
  std::string known;
  for (const std::string& each : launcher_names()) known += (known.empty() ? "" : ", ") + each;
  return base::Error{"no launcher is called \"" + name + "\"; there are: " + known};
}

}  // namespace rematch::launch
