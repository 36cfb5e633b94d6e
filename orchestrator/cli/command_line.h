// The frame of the command line: global options, the table of verbs, help with examples first, usage errors.
#pragma once

#include "orchestrator/cli/verb.h"

namespace rematch::cli {

// Parses, runs the verb, returns its exit code; kUsage with a message on streams.err when the arguments are not understood.
Exit run_command_line(int argc, const char* const* argv, Streams streams);

}  // namespace rematch::cli
