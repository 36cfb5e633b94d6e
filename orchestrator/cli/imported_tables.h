// The published tables that a workspace holds as files; the database's are made of these. One thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "orchestrator/base/result.h"
#include "schemas/protocol/published.h"

namespace rematch::cli {

// Of the files, sorted; whether each is a published table is not looked at.
std::vector<std::string> imported_names(const std::filesystem::path& workspace);

// By file name. An error names the file: it is no published table, or not the one that its name says.
std::vector<base::Result<protocol::Published>> imported_tables(const std::filesystem::path& workspace);

enum class Import { kNew, kReplaced, kUnchanged };

// Writes the table's file, whole or not at all, unless the same table is there. Throws std::system_error where it cannot be written.
Import write_table(const std::filesystem::path& workspace, const protocol::Published& table);

}  // namespace rematch::cli
