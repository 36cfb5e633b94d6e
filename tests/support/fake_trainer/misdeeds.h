// The ways in which a fake rank harms its surroundings. None of them touches a record.
#pragma once

#include <cstdint>
#include <filesystem>

namespace rematch::tests {

enum class SigtermAnswer { kDie, kIgnore };

[[noreturn]] void hang(SigtermAnswer answer);
void flood_stdout(std::int64_t megabytes);
// A grandchild in a session of its own, its parent gone, that sleeps for ten minutes; its pid is written to `pid_file`.
void start_daemon(const std::filesystem::path& pid_file);
// Takes so much memory of the machine and writes to each page of it.
void fill_memory(std::int64_t megabytes);
void append_raw(const std::filesystem::path& file, const char* text);

}  // namespace rematch::tests
