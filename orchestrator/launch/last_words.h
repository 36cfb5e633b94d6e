// What a supervisor writes at the end of the record of a rank that the kernel ended for want of memory: the rank could not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace rematch::launch {

// Appends an `error` record of kind host_oom, at the stage that the rank had reached. A torn tail is ended first and stays a bad line.
// Throws std::system_error when the file cannot be written.
void write_host_oom(const std::filesystem::path& rank_record, const std::string& message, std::int64_t end_mono_ns);

}  // namespace rematch::launch
