// Programs that the shell would find.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace rematch::launch {

// The first executable of this name in the folders of PATH.
std::optional<std::filesystem::path> find_program(const std::string& name);

}  // namespace rematch::launch
