// Databases that the user names: a file, or a workspace, whose database it then is.
#pragma once

#include <filesystem>
#include <string>

#include "orchestrator/base/result.h"

namespace rematch::cli {

// The error: there is none.
base::Result<std::filesystem::path> find_database(const std::string& file_or_workspace);

}  // namespace rematch::cli
