// A network file system answers for up to a minute with what a host saw of a folder before, "no such file" above all. Making a file in the
// folder and removing it again has it look at once.
#pragma once

#include <filesystem>

namespace rematch::slurm {

// Longer than NFS keeps what it knows of a folder (acdirmax, 60 s by default): waited where a folder cannot be written.
inline constexpr double kStaleFolderSeconds = 70;

// True too where there is no such folder. False: nothing can be written there.
bool look_afresh(const std::filesystem::path& folder);

}  // namespace rematch::slurm
