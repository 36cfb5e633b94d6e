// Whether what failed may have failed for want of disk: of room on it, or of its user's or group's quota. Called by a supervisor once a
// rank has failed, and for errors that end a run.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <system_error>

namespace rematch::launch {

// ENOSPC or EDQUOT.
bool is_full_disk(const std::error_code& code);

// Writes a nameless file as large as the records of one rank, to the disk itself. The error that it met; none: there was room.
std::error_code try_to_write(const std::filesystem::path& folder);

// What is full and what to do. nullopt: there is room for the records of a rank, or the system does not tell.
std::optional<std::string> full_disk(const std::filesystem::path& folder,
                                     const std::function<std::error_code(const std::filesystem::path&)>& try_write = try_to_write);

}  // namespace rematch::launch
