// The machine that this process runs on, and which processes of it are gone. Threads: any.
#pragma once

#include <cstdint>
#include <string>

namespace rematch::launch {

std::string host_name();  // as the operating system has it

// False for a pid of another program that took the number over, and for one below 1.
bool is_gone_from_this_host(std::int64_t pid);

}  // namespace rematch::launch
