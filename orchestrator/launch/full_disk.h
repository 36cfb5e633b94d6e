// Whether a rank's failure may be for want of disk. Called by a supervisor once a rank has failed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace rematch::launch {

// What is full and what to do. nullopt: there is room for the records of a rank, or the system does not tell.
std::optional<std::string> full_disk(const std::filesystem::path& folder);

}  // namespace rematch::launch
