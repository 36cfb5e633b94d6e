// Whether a process of this machine still runs. Reads /proc; safe from any thread.
#pragma once

#include <cstdint>
#include <string>

namespace rematch::peers {

// Equal in two processes that see each other by process id.
std::string machine_id();

// False when it has ended, also while its parent has not asked for its exit code.
bool process_runs(std::int64_t pid);

}  // namespace rematch::peers
