// What of a workspace concerns a run: its folder and file system, its lock, its database, and processes that belong to it. Looks only: it
// takes no lock and leaves the database as it is. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "orchestrator/doctor/finding.h"

namespace rematch::doctor {

Findings examine_workspace(const std::filesystem::path& workspace);

// What statfs(2) calls `magic`: "ext4", "nfs", ...; the number in hex when it is not known.
struct FileSystemKind {
  std::string name;
  bool is_network = false;  // SQLite's write-ahead log wants memory that processes share, which several hosts have not
};
FileSystemKind file_system_kind(std::int64_t magic);
// Of the place, or of the nearest folder above it that is there; nullopt: the system does not tell.
std::optional<FileSystemKind> file_system_of(const std::filesystem::path& place);

}  // namespace rematch::doctor
