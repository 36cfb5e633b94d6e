// The processes of an attempt on this machine, found by a mark that its supervisor and all that it starts have in their environment: also
// those that outlived supervisor and controller and belong to nobody now. Called when an attempt was lost, and by `doctor`.
// One thread. A process is signalled through a descriptor of it, after its mark was read, so that a reused id is never hit. Processes of
// other users are not seen.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace rematch::launch {

// What the supervisor of an attempt must have in its environment.
std::map<std::string, std::string> attempt_mark(const std::filesystem::path& attempt_folder);

struct AttemptProcess {
  pid_t pid = 0;
  std::filesystem::path attempt_folder;
  std::string command;  // its words parted by spaces
};

// Of every attempt whose folder is `folder` or below it, by pid.
std::vector<AttemptProcess> attempt_processes(const std::filesystem::path& folder);

// Kills what is left of an attempt whose supervisor is gone. False: something still ran at the deadline.
bool end_attempt_processes(const std::filesystem::path& attempt_folder, std::chrono::milliseconds deadline);

}  // namespace rematch::launch
