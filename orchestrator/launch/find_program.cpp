#include "orchestrator/launch/find_program.h"

#include <unistd.h>

#include <sstream>

#include "orchestrator/launch/allocation.h"

namespace rematch::launch {

std::optional<std::filesystem::path> find_program(const std::string& name) {
  std::istringstream folders(environment_text("PATH").value_or(""));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto candidate = std::filesystem::path(folder.empty() ? "." : folder) / name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return std::nullopt;
}

}  // namespace rematch::launch
