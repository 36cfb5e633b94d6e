// Where a verb's text goes: stdout, a file that appears whole or not at all, or a pipe or device that is there.
#pragma once

#include <filesystem>
#include <string>

#include "orchestrator/cli/verb.h"

namespace rematch::cli {

// A link is followed, and stays; a pipe or device is written into. Throws std::system_error.
void write_whole_output(const std::filesystem::path& path, const std::string& text);

// `file` "-" is stdout. kEnvironment, with the reason on streams.err, when it cannot be written.
Exit write_output(const std::string& text, const std::string& file, Streams streams);

}  // namespace rematch::cli
