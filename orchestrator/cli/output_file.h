// Where a verb's text goes: stdout, or a file that appears whole or not at all.
#pragma once

#include <string>

#include "orchestrator/cli/verb.h"

namespace rematch::cli {

// `file` "-" is stdout. kEnvironment, with the reason on streams.err, when it cannot be written.
Exit write_output(const std::string& text, const std::string& file, Streams streams);

}  // namespace rematch::cli
